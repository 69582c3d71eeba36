import type { Command } from 'commander';
import { addCommand } from './command.ts';

/** `millrace doctor` */
export function addDoctorCommand(program: Command): void {
  addCommand(program, {
    usage: 'doctor',
    description:
      'check the installation: shows each problem and how to fix it, and exits with 1 if there is an error',
    examples: ['millrace doctor', 'millrace doctor --json'],
    run: async () => {
      const { diagnose } = await import('./doctor-report.ts');
      return diagnose();
    },
  });
}

import type { Command } from 'commander';
import { addCommand } from './command.ts';

/** `millrace doctor` */
export function addDoctorCommand(program: Command): void {
  addCommand(program, {
    usage: 'doctor',
    description:
      'check the installation, and say what is wrong and how to fix it; exits with 1 if something is',
    examples: ['millrace doctor', 'millrace doctor --json'],
    run: async () => {
      const { diagnose } = await import('./doctor-report.ts');
      return diagnose();
    },
  });
}

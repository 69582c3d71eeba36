import { SERVICE_VERSION } from '@millrace/api/version';
import { Command } from 'commander';
import { addAuditCommands } from './audit.ts';
import { addBackupCommands } from './backup.ts';
import { addConnectorCommands } from './connectors.ts';
import { addCredentialCommands } from './credentials.ts';
import { addDoctorCommand } from './doctor.ts';
import { addExecutionCommands } from './executions.ts';
import { addFilesCommands } from './files.ts';
import { addImportCommand } from './import.ts';
import { addKeyCommands } from './keys.ts';
import { addMemberCommands } from './members.ts';
import { addOrganisationCommands } from './orgs.ts';
import { addSecretCommands } from './secrets.ts';
import { addServiceCommands } from './service.ts';
import { addSetupLinkCommand } from './setup-link.ts';
import { addSupportBundleCommand } from './support-bundle.ts';
import { addTemplateCommands } from './templates.ts';
import { addUserCommands } from './users.ts';
import { addWorkflowCommands } from './workflows.ts';

/**
 * The whole command line, ready to parse. It throws CommanderError instead of ending the process.
 * @param quiet suppresses commander's own error output, because the error is printed as JSON
 */
export function buildProgram(quiet = false): Command {
  const program = new Command('millrace')
    .description('Workflow automation: start and administer the service.')
    .version(SERVICE_VERSION)
    .exitOverride()
    .showSuggestionAfterError()
    // Errors are printed once, by printError.
    .configureOutput({ outputError: () => {}, ...(quiet ? { writeErr: () => {} } : {}) })
    .configureHelp({ showGlobalOptions: false })
    .addHelpText(
      'after',
      `
Exit codes: 0 done, 1 refused or failed, 2 wrong usage or configuration.
Commands other than start, api, worker, migrate, backup, restore, files copy, doctor, audit verify, support-bundle, import --dry-run, connectors upload --check and secrets reset need a running service.
docs/cli.md shows every command with its output.`,
    );
  addServiceCommands(program);
  addBackupCommands(program);
  addFilesCommands(program);
  addDoctorCommand(program);
  addSupportBundleCommand(program);
  addAuditCommands(program);
  addOrganisationCommands(program);
  addMemberCommands(program);
  addUserCommands(program);
  addSetupLinkCommand(program);
  addKeyCommands(program);
  addCredentialCommands(program);
  addConnectorCommands(program);
  addSecretCommands(program);
  addWorkflowCommands(program);
  addImportCommand(program);
  addTemplateCommands(program);
  addExecutionCommands(program);
  return program;
}

/** Full names of all commands, for example `keys create`, in the order of `--help`. */
export function commandNames(): string[] {
  return leafCommands(buildProgram()).map(({ name }) => name);
}

/** All commands with an action, with their full names. */
export function leafCommands(program: Command): { readonly name: string; readonly command: Command }[] {
  return program.commands.flatMap((command) =>
    command.commands.length === 0
      ? [{ name: command.name(), command }]
      : command.commands.map((leaf) => ({ name: `${command.name()} ${leaf.name()}`, command: leaf })),
  );
}

/** The `--help` output of a command without colours, wrapped at `width` columns. */
export function helpText(command: Command, width: number): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => width,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return text.trim();
}

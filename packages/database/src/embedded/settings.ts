import { totalmem } from 'node:os';
import { PLANNER_SETTINGS } from '../connection.ts';

/** Server settings, as in postgresql.conf. */
export type ServerSettings = Readonly<Record<string, string>>;

const MIB = 1024 * 1024;

/**
 * Settings of the embedded server: durable, reachable only over its socket, sized for a shared machine.
 * @param socketDir absolute folder of the socket
 */
export function serverSettings(socketDir: string): ServerSettings {
  const sharedBuffersMib = Math.max(64, Math.min(512, Math.floor(totalmem() / MIB / 8)));
  return {
    listen_addresses: '',
    unix_socket_directories: socketDir,
    unix_socket_permissions: '0700',
    port: '5432',
    cluster_name: 'millrace',
    max_connections: '100',
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    shared_buffers: `${sharedBuffersMib}MB`,
    max_wal_size: '1GB',
    min_wal_size: '80MB',
    checkpoint_timeout: '15min',
    // Of psql and backups, too. Parallel workers would need /dev/shm, of which small containers have little.
    ...PLANNER_SETTINGS,
    // Rows of the queue change often: vacuum early to keep it small.
    autovacuum_naptime: '15s',
    autovacuum_vacuum_scale_factor: '0.05',
    autovacuum_vacuum_insert_scale_factor: '0.05',
    password_encryption: 'scram-sha-256',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    // One file per weekday, overwritten a week later.
    logging_collector: 'on',
    log_directory: 'log',
    log_filename: 'postgresql-%a.log',
    log_truncate_on_rotation: 'on',
    log_rotation_age: '1d',
    log_rotation_size: '0',
    log_min_duration_statement: '5s',
    // Parameter values are users' data and don't belong in a log.
    log_parameter_max_length: '0',
    log_parameter_max_length_on_error: '0',
  };
}

/** Formats a configuration file. */
export function formatSettings(settings: ServerSettings): string {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  return `# Written by Millrace at every start. Your own settings go into postgresql.conf, below its include line.\n${lines.join('\n')}\n`;
}

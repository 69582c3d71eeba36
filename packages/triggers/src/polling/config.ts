export { MAX_LISTED, pollingProperties } from '@millrace/node-kit/polling-settings';

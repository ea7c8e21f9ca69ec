/** Versions of the program that differ by a migration: this one, a later one, and one of an earlier commit. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY } from '../../torana.ts'

/** What a start needs beside the packages. */
const PARTS = ['server/package.json', 'server/bin', 'server/src', 'server/catalog'] as const
/** As a newer version may do it: it adds to tables that every request writes, which have to be locked for that. */
const NEXT_MIGRATION = `
ALTER TABLE usage_events ADD COLUMN of_next_version text;
ALTER TABLE requests ADD COLUMN of_next_version text NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN of_next_version int NOT NULL DEFAULT 1;
CREATE TABLE of_next_version (id int PRIMARY KEY);
CREATE INDEX requests_of_next_version ON requests (of_next_version);
`
const NEXT_VERSION = 9001

/** The program of a source, which decides its version. */
export function programOf(source: string): string {
  return join(source, 'server/bin/torana.js')
}

/** The source as it is, with one more migration. */
export function makeNextVersion(folder: string): string {
  const source = madeIn(folder, 'next-version')
  for (const part of PARTS) cpSync(join(REPOSITORY, part), join(source, part), { recursive: true })
  const migrations = join(source, 'server/src/stores/postgres/migrations')
  writeFileSync(join(migrations, `${NEXT_VERSION}-of-the-next-version.sql`), NEXT_MIGRATION)
  return source
}

/** The source as it was at a commit. */
export function makeVersionOf(commit: string, folder: string): string {
  const source = madeIn(folder, 'earlier-version')
  const archive = execFileSync('git', ['archive', commit, ...PARTS], {
    cwd: REPOSITORY,
    maxBuffer: 1024 ** 3,
  })
  execFileSync('tar', ['--extract', '--directory', source], { input: archive })
  return source
}

function madeIn(folder: string, name: string): string {
  const source = join(folder, name)
  mkdirSync(join(source, 'server'), { recursive: true })
  for (const packages of ['node_modules', 'server/node_modules'])
    symlinkSync(join(REPOSITORY, packages), join(source, packages))
  return source
}

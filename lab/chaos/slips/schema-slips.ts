/** Slips of someone who works on the database: none is a fault of an entry, so every entry is in the ledger afterwards. */
import { execFileSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresUser } from '../../../server/test/support/servers.ts'
import { GATEWAY_ROLE, type Slip } from './slip.ts'

function statements(name: string, begin: string, end: string): Slip {
  return {
    name: `schema: ${name}`,
    begin: (stage) => stage.asSuperuser(begin),
    end: (stage) => stage.asSuperuser(end),
  }
}

/** Entries that it refuses are set aside, since PostgreSQL can't tell that none is at fault. A node that starts writes them. */
function check(name: string, condition: string): Slip {
  return {
    name: `schema: ${name}`,
    begin: (stage) =>
      stage.asSuperuser(`ALTER TABLE usage_events ADD CONSTRAINT slip CHECK (${condition}) NOT VALID`),
    async end(stage) {
      await stage.asSuperuser('ALTER TABLE usage_events DROP CONSTRAINT slip')
      await stage.restart(0)
    },
  }
}

const SESSIONS_END = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${GATEWAY_ROLE}'`
const DISK_KILOBYTES = 16 * 1024

/** The partitions of the ledger are on a disk of their own, which is full. PostgreSQL itself goes on: its log is on another one. */
function fullDisk(): Slip {
  let disk: string | undefined
  const move = (space: string): string => `DO $$ DECLARE leaf regclass; BEGIN
    FOR leaf IN SELECT relid FROM pg_partition_tree('usage_events') WHERE isleaf LOOP
      EXECUTE format('ALTER TABLE %s SET TABLESPACE ${space}', leaf);
    END LOOP; END $$`
  return {
    name: 'schema: the disk of the ledger is full',
    async begin(stage) {
      disk = mkdtempSync(join(tmpdir(), 'torana-full-'))
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_KILOBYTES}k`, 'tmpfs', disk])
      const user = postgresUser()
      if (user) chownSync(disk, user.uid, user.gid)
      await stage.asSuperuser(`CREATE TABLESPACE small LOCATION '${disk}'`)
      await stage.asSuperuser(move('small'))
      const { bavail, bsize } = statfsSync(disk)
      writeFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize))
    },
    async end(stage) {
      if (disk === undefined) return
      rmSync(join(disk, 'filler'))
      await stage.asSuperuser(move('pg_default'))
      await stage.asSuperuser('DROP TABLESPACE small')
      execFileSync('umount', ['--lazy', disk])
      rmSync(disk, { recursive: true })
    },
  }
}

export const SCHEMA_SLIPS: readonly Slip[] = [
  statements(
    'the table of sums has another name',
    'ALTER TABLE usage_hours RENAME TO usage_hours_x',
    'ALTER TABLE usage_hours_x RENAME TO usage_hours',
  ),
  statements(
    'the ledger has another name',
    'ALTER TABLE usage_events RENAME TO usage_events_x',
    'ALTER TABLE usage_events_x RENAME TO usage_events',
  ),
  statements(
    'the right to write the ledger is revoked',
    `REVOKE INSERT ON usage_events FROM ${GATEWAY_ROLE}`,
    `GRANT INSERT ON usage_events TO ${GATEWAY_ROLE}`,
  ),
  statements(
    'a trigger refuses every sum',
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'slip'; END $$;
     CREATE TRIGGER slip BEFORE INSERT ON usage_hours FOR EACH ROW EXECUTE FUNCTION refuse()`,
    'DROP TRIGGER slip ON usage_hours; DROP FUNCTION refuse()',
  ),
  check('a check refuses every entry', 'false'),
  check('a check refuses one entry in three', 'tokens % 3 <> 0'),
  statements(
    'the database is read-only',
    `ALTER ROLE ${GATEWAY_ROLE} SET default_transaction_read_only = on; ${SESSIONS_END}`,
    `ALTER ROLE ${GATEWAY_ROLE} RESET default_transaction_read_only; ${SESSIONS_END}`,
  ),
  // Only root may mount.
  ...(process.getuid?.() === 0 ? [fullDisk()] : []),
]

/** PostgreSQL, an S3 server and a node whose wall clock the proof moves and which it kills. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { S3_OWNER, s3Program, startS3Server, testPlace } from '../../../server/test/support/s3.ts'
import type { S3Settings } from '../../../server/src/stores/blobs/s3.ts'
import { movableClock } from '../../../server/test/support/moved-database.ts'
import { SOURCE_PROGRAM } from '../../../server/test/support/process.ts'
import type { TestServer } from '../../../server/test/support/servers.ts'
import { newTorana, type Torana } from '../../torana.ts'
import type { Workplace } from '../../workplace.ts'

export const ADMIN = 'admin-token-of-the-lab-0001'
/** Days are written without WAL, and checkpoints do not compete with the work that is timed. */
const SETTINGS = ['wal_level=minimal', 'max_wal_senders=0', 'max_wal_size=4GB', 'checkpoint_timeout=15min']

export interface Stage {
  readonly postgres: TestServer
  readonly s3: TestServer
  readonly place: S3Settings
  readonly node: Torana
  /** Sets the clocks of the node and of PostgreSQL. Undefined: that of this machine. */
  moveTo(unixMs: number | undefined): Promise<void>
}

export async function openStage(place: Workplace, ledger: object): Promise<Stage> {
  const program = s3Program()
  if (program === undefined)
    throw new Error('there is no S3 server on this machine: bash .ci/servers installs one')
  const postgres = await place.postgres({ memory: '512MB', settings: SETTINGS })
  const s3 = place.keep(await startS3Server(program, { volumes: 100, volumeMegabytes: 1024 }))
  const at = testPlace(s3.url)
  const clockFile = join(place.folder, 'clock')
  const moveDatabase = await movableClock(postgres.url)
  const moveTo = async (unixMs: number | undefined): Promise<void> => {
    const aheadMs = unixMs === undefined ? 0 : unixMs - Date.now()
    await moveDatabase(aheadMs)
    writeFileSync(clockFile, String(aheadMs))
  }
  await moveTo(undefined)
  const node = await newTorana({
    folder: place.folder,
    name: 'node',
    program: SOURCE_PROGRAM,
    config: {
      upstreams: { lab: { dialect: 'openai', baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'sk-lab' } },
      models: {
        'lab-w8': {
          kind: 'embedding',
          embedding: { dimensions: 8 },
          price: 'free',
          spaceGuard: false,
          deployments: [{ upstream: 'lab' }],
        },
      },
      ledger,
    },
    env: {
      DATABASE_URL: postgres.url,
      TORANA_SECRET: 'the secret of the lab'.repeat(3),
      TORANA_ADMIN_TOKEN: ADMIN,
      ASSETS_URL: `s3://${at.bucket}/${at.prefix}?region=${at.region}&endpoint=${s3.url}`,
      AWS_ACCESS_KEY_ID: S3_OWNER.accessKeyId,
      AWS_SECRET_ACCESS_KEY: S3_OWNER.secretAccessKey,
      LAB_CLOCK_FILE: clockFile,
    },
    flags: [
      '--import',
      join(import.meta.dirname, 'moved-clock.ts'),
      '--import',
      join(import.meta.dirname, 'quick-chores.ts'),
    ],
  })
  return { postgres, s3, place: at, node, moveTo }
}

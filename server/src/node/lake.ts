/** Opens the export of the ledger to the blob store, and the reading of what was exported. */
import { createHash } from 'node:crypto'
import { tasksOf } from '#core/node/node-role.ts'
import type { NodeLake } from '#ports/lake.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { WorkerLedgerFiles } from '#runtime/ledger-files.ts'
import { manifestSigner } from '#runtime/manifest-signature.ts'
import { every } from '#worker/every.ts'
import { LakeReader } from '#worker/ledger/cold-entries.ts'
import { Lake } from '#worker/ledger/lake.ts'
import type { LakeHashing } from '#worker/ledger/lake-bytes.ts'
import { LedgerLakeDoctor } from '#worker/ledger/lake-doctor.ts'
import type { Basics } from './basics.ts'
import type { Blobs } from './blobs.ts'
import type { Stores } from './stores.ts'

/** Interval of looking for days that are due. */
const ROUND_MS = 60_000

export const lakeHashing: LakeHashing = {
  sha256: (bytes) => createHash('sha256').update(bytes).digest('hex'),
  sha256OfParts() {
    const hash = createHash('sha256')
    return { add: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') }
  },
}

export interface OpenLake extends AsyncDisposable {
  readonly forControl: NodeLake
}

export function openLake(
  basics: Pick<Basics, 'log' | 'secrets' | 'metrics' | 'ledger'> & {
    readonly settings: Pick<Basics['settings'], 'assets' | 'role'>
  },
  {
    stores,
    blobs,
  }: {
    readonly stores: Pick<Stores, 'lake' | 'nodeId' | 'isEldest' | 'isClockSteady' | 'storeClock'>
    readonly blobs: Pick<Blobs, 'kept'>
  },
  roundMs = ROUND_MS,
): OpenLake {
  const { settings, log, secrets, metrics } = basics
  const { keepDays, export: wanted } = basics.ledger
  const isExported = wanted ?? (settings.assets.kind === 's3' || keepDays !== 'forever')
  const files = new WorkerLedgerFiles()
  const proof = {
    store: stores.lake,
    blobs: blobs.kept,
    files,
    signer: manifestSigner(secrets),
    hashing: lakeHashing,
  }
  const lake = new Lake({
    ...proof,
    nodeId: stores.nodeId,
    clock: stores.storeClock,
    isClockSteady: stores.isClockSteady,
    keepDays,
    events: {
      exported: (day, { number, files: all }) =>
        log.info({ day, manifest: number, files: all.length }, 'a day of the ledger was exported'),
      dropped: (partition) => log.info({ partition }, 'exported days of the ledger were dropped'),
    },
  })
  const round = async (): Promise<void> => {
    if (!(await stores.isEldest())) return
    try {
      await lake.round()
    } finally {
      metrics.ledger.exported((await stores.lake.status()).waiting)
    }
    metrics.ledger.chore('export', 'done')
  }
  let isStopping = false
  const rounds =
    isExported && tasksOf(settings.role).doesChores
      ? every(roundMs, round, (error) => {
          if (isStopping) return
          // Also an outage: that of a bucket shows nowhere else until its images are missed.
          metrics.ledger.chore('export', 'failed')
          if (error instanceof StoreUnreachable) log.warn({ err: error }, 'the export of the ledger waits')
          else log.error({ err: error }, 'the ledger could not be exported')
        })
      : undefined
  return {
    forControl: {
      isExported,
      keepDays,
      status: () => stores.lake.status(),
      cold: new LakeReader(proof),
      doctor: new LedgerLakeDoctor({ ...proof, isExported, clock: stores.storeClock }),
    },
    async [Symbol.asyncDispose]() {
      isStopping = true
      lake.stop()
      await rounds?.stop()
      await files.close()
    },
  }
}

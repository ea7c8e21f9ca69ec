/** The dependencies of images, in memory: for listeners that are tested by themselves. */
import { FairShare } from '#core/schedule/fair-share.ts'
import { defaultLimits } from '#core/settings.ts'
import type { ImagesDependencies } from '#http/gateway/images/images.ts'
import type { ReadingOutside } from '#http/gateway/images/read-request.ts'
import { RunningJobs } from '#request/images/running-jobs.ts'
import { WaitingCallers } from '#request/images/waiting-callers.ts'
import { systemClock } from '#runtime/clock.ts'
import { hashing } from '#runtime/hashing.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import { MemoryImageJobs } from '#test/support/stores/image-jobs.ts'
import { MemoryUploads } from '#stores/uploads/memory.ts'
import { SetTerms } from './terms.ts'

type Parts = Pick<
  ImagesDependencies,
  | 'blobs'
  | 'codec'
  | 'hashing'
  | 'unkept'
  | 'imageUpstream'
  | 'jobs'
  | 'nodeId'
  | 'running'
  | 'waiting'
  | 'wait'
  | 'unended'
  | 'terms'
  | 'linkOf'
  | 'answerRoom'
> & { readonly verifyLink: () => boolean } & Pick<ReadingOutside, 'uploads' | 'memory' | 'fetcher'>

export function memoryImages(): Parts {
  const wait = (ms: number): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, ms))
  return {
    blobs: new MemoryBlobs(systemClock),
    codec: { convert: (bytes) => Promise.resolve(bytes), colourMask: (bytes) => Promise.resolve(bytes) },
    uploads: new MemoryUploads({ maxBytes: 2 ** 30 }),
    memory: new FairShare({ capacity: 2 ** 28, headroom: 3, maxWaiting: 1000 }),
    answerRoom: new FairShare({ capacity: 2 ** 26, headroom: 3, maxWaiting: 0 }),
    fetcher: { fetch: () => Promise.reject(new Error('no fetcher')) },
    hashing,
    unkept: () => {},
    imageUpstream: { generate: () => Promise.reject(new Error('no upstream')) },
    jobs: new MemoryImageJobs(systemClock),
    nodeId: crypto.randomUUID(),
    running: new RunningJobs(defaultLimits, wait),
    waiting: new WaitingCallers(),
    wait,
    unended: () => {},
    terms: new SetTerms(),
    linkOf: (assetId) => `http://gateway.test/v1/assets/${assetId}`,
    verifyLink: () => false,
  }
}

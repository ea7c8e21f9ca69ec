/** What images need, in memory: for listeners that are tested by themselves. */
import type { ImagesDependencies } from '#http/gateway/images.ts'
import { RunningJobs } from '#request/running-jobs.ts'
import { systemClock } from '#runtime/clock.ts'
import { hashing } from '#runtime/hashing.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import { MemoryImageJobs } from '#stores/memory/image-jobs.ts'

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
  | 'wait'
  | 'unended'
  | 'linkOf'
> & { readonly verifyLink: () => boolean }

export function memoryImages(): Parts {
  return {
    blobs: new MemoryBlobs(systemClock),
    codec: { convert: (bytes) => Promise.resolve(bytes) },
    hashing,
    unkept: () => {},
    imageUpstream: { generate: () => Promise.reject(new Error('no upstream')) },
    jobs: new MemoryImageJobs(systemClock),
    nodeId: crypto.randomUUID(),
    running: new RunningJobs(),
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    unended: () => {},
    linkOf: (assetId) => `http://gateway.test/v1/assets/${assetId}`,
    verifyLink: () => false,
  }
}

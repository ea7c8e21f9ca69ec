import { MemoryBlobs } from '#stores/blobs/memory.ts'
import { DiskBlobs } from '#stores/blobs/disk.ts'
import { systemClock } from '#runtime/clock.ts'
import { testFolder } from '#test/support/disk.ts'
import { blobStoreSuite } from './blob-store.ts'

blobStoreSuite({ name: 'memory', open: async () => new MemoryBlobs(systemClock), histories: 200 })
blobStoreSuite({ name: 'disk', open: () => DiskBlobs.open(testFolder()), histories: 100 })

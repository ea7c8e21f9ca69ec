import { batchRoomSuite } from './batch-room.ts'
import { batchSpacesSuite } from './batch-spaces.ts'
import { batchesSuite } from './batches.ts'
import { memoryBatches, postgresBatches } from './batches-open.ts'

batchesSuite('memory', memoryBatches)
batchSpacesSuite('memory', memoryBatches)
batchRoomSuite('memory', memoryBatches)
const postgres = postgresBatches()
batchesSuite('PostgreSQL', postgres)
batchSpacesSuite('PostgreSQL', postgres)
batchRoomSuite('PostgreSQL', postgres)

import { batchRoomSuite } from './batch-room.ts'
import { batchSpacesSuite } from './batch-spaces.ts'
import { batchesSuite } from './batches.ts'
import { pausedBatchesSuite } from './batches-paused.ts'
import { postgresBatches } from './batches-open.ts'

const postgres = postgresBatches()
batchesSuite('PostgreSQL', postgres)
pausedBatchesSuite('PostgreSQL', postgres)
batchSpacesSuite('PostgreSQL', postgres)
batchRoomSuite('PostgreSQL', postgres)

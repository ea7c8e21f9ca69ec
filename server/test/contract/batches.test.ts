import { batchesSuite } from './batches.ts'
import { memoryBatches, postgresBatches } from './batches-open.ts'

batchesSuite('memory', memoryBatches)
batchesSuite('PostgreSQL', postgresBatches())

/** `npm run lab -- check/pglite`: the contracts of all stores on PGlite, which takes minutes. One smoke of each is in every run. */
import { pgliteStores } from '#test/support/ledger-stores.ts'
import { pgliteDirectory } from '#test/support/directory.ts'
import { pglitePeople } from '#test/support/people.ts'
import { auditLogSuite } from './audit-log.ts'
import { auditReadingSuite } from './audit-reading.ts'
import { batchRoomSuite } from './batch-room.ts'
import { batchSpacesSuite } from './batch-spaces.ts'
import { batchesSuite } from './batches.ts'
import { pausedBatchesSuite } from './batches-paused.ts'
import { pgliteBatches } from './batches-open.ts'
import { budgetStoreSuite } from './budget-store.ts'
import { credentialStoreSuite } from './credential-store.ts'
import { fileUploadsSuite } from './file-uploads.ts'
import { finderSuite } from './finder.ts'
import { filesSuite } from './files.ts'
import { pgliteFiles } from './files-open.ts'
import { imageJobsSuite } from './image-jobs.ts'
import { pgliteJobs } from './image-jobs-open.ts'
import { sqlImageJobsSuite } from './image-jobs-sql.ts'
import { keyStoreSuite } from './key-store.ts'
import { ledgerStoreSuite } from './ledger-store.ts'
import { sqlLedgerSuite } from './ledger-store-sql.ts'
import { modelFiguresSuite } from './model-figures.ts'
import { pgliteLedger, sharedLedger } from './open-ledger.ts'
import { peopleSuite } from './people.ts'
import { reconcilerSuite } from './reconciler.ts'
import { requestReportsSuite } from './request-reports.ts'
import { sealingSuite } from './sealing.ts'
import { databaseSpaces, spaceStoreSuite } from './spaces.ts'
import { usageLabelsSuite } from './usage-labels.ts'
import { upkeepSuite } from './upkeep.ts'
import { webhookOutboxSuite } from './webhooks.ts'

const stores = sharedLedger(pgliteLedger)
budgetStoreSuite('PGlite', stores, 4)
ledgerStoreSuite('PGlite', stores)
sqlLedgerSuite('PGlite', stores, 500)

const directory = pgliteDirectory()
keyStoreSuite('PGlite', directory)
credentialStoreSuite('PGlite', directory)
auditLogSuite('PGlite', directory)
auditReadingSuite('PGlite', directory)
spaceStoreSuite('PGlite', databaseSpaces(directory), 20)

peopleSuite('PGlite', pglitePeople())

const jobs = pgliteJobs()
imageJobsSuite('PGlite', jobs)
sqlImageJobsSuite('PGlite', jobs)
webhookOutboxSuite('PGlite', jobs)

const files = pgliteFiles()
filesSuite('PGlite', files)
fileUploadsSuite('PGlite', files)
const batches = pgliteBatches()
batchesSuite('PGlite', batches)
pausedBatchesSuite('PGlite', batches)
batchSpacesSuite('PGlite', batches)
batchRoomSuite('PGlite', batches)

const upkeep = pgliteStores()
upkeepSuite('PGlite', upkeep)
reconcilerSuite('PGlite', upkeep)
sealingSuite('PGlite', upkeep)
finderSuite('PGlite', upkeep)
modelFiguresSuite('PGlite', upkeep)
requestReportsSuite('PGlite', upkeep)
usageLabelsSuite('PGlite', upkeep)

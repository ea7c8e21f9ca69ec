import { budgetStoreSuite } from './budget-store.ts'
import { postgresStores } from './open-ledger.ts'

budgetStoreSuite('PostgreSQL', postgresStores, 15)

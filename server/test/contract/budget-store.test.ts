import { budgetStoreSuite } from './budget-store.ts'
import { postgresLedger } from './open-ledger.ts'

budgetStoreSuite('PostgreSQL', postgresLedger, 15)

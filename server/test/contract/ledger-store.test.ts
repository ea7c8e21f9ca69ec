import { ledgerStoreSuite } from './ledger-store.ts'
import { sqlLedgerSuite } from './ledger-store-sql.ts'
import { postgresLedger, sharedLedger } from './open-ledger.ts'

const postgres = sharedLedger(postgresLedger)

ledgerStoreSuite('PostgreSQL', postgres)
sqlLedgerSuite('PostgreSQL', postgres, 2500)

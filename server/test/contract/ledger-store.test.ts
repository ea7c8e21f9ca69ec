import { ledgerStoreSuite } from './ledger-store.ts'
import { sqlLedgerSuite } from './ledger-store-sql.ts'
import { postgresStores, sharedStores } from './open-ledger.ts'

const postgres = sharedStores(postgresStores)

ledgerStoreSuite('PostgreSQL', postgres)
sqlLedgerSuite('PostgreSQL', postgres, 2500)

import { ledgerStoreSuite } from './ledger-store.ts'
import { sqlLedgerSuite } from './ledger-store-sql.ts'
import { postgresBooks, sharedBooks } from './open-books.ts'

const postgres = sharedBooks(postgresBooks)

ledgerStoreSuite('PostgreSQL', postgres)
sqlLedgerSuite('PostgreSQL', postgres, 2500)

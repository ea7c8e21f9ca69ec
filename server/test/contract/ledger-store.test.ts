import { ledgerStoreSuite } from './ledger-store.ts'
import { sqlLedgerSuite } from './ledger-store-sql.ts'
import { memoryBooks, pgliteBooks, postgresBooks, sharedBooks } from './open-books.ts'

const [pglite, postgres] = [sharedBooks(pgliteBooks), sharedBooks(postgresBooks)]

ledgerStoreSuite('memory', memoryBooks)
ledgerStoreSuite('PGlite', pglite)
ledgerStoreSuite('PostgreSQL', postgres)
sqlLedgerSuite('PGlite', pglite, 500)
sqlLedgerSuite('PostgreSQL', postgres, 2500)

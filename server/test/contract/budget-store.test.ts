import { budgetStoreSuite } from './budget-store.ts'
import { memoryBooks, pgliteBooks, postgresBooks } from './open-books.ts'

budgetStoreSuite('memory', memoryBooks, 200)
budgetStoreSuite('PGlite', pgliteBooks, 4)
budgetStoreSuite('PostgreSQL', postgresBooks, 15)

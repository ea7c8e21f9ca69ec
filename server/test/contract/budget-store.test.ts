import { budgetStoreSuite } from './budget-store.ts'
import { postgresBooks } from './open-books.ts'

budgetStoreSuite('PostgreSQL', postgresBooks, 15)

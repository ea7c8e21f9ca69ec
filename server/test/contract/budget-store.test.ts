import { budgetStoreSuite } from './budget-store.ts'
import { memoryBooks, postgresBooks } from './open-books.ts'

budgetStoreSuite('memory', memoryBooks, 200)
budgetStoreSuite('PostgreSQL', postgresBooks, 15)

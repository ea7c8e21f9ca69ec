import { postgresBooks } from '#test/support/books.ts'
import { modelEndsSuite } from './model-ends.ts'

modelEndsSuite('PostgreSQL', postgresBooks())

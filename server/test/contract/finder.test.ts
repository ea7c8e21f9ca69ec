import { postgresBooks } from '#test/support/books.ts'
import { finderSuite } from './finder.ts'

finderSuite('PostgreSQL', postgresBooks())

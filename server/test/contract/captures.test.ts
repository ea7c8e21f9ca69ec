import { postgresBooks } from '#test/support/books.ts'
import { capturesSuite } from './captures.ts'

capturesSuite('PostgreSQL', postgresBooks())

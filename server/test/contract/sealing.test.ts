import { postgresBooks } from '#test/support/books.ts'
import { sealingSuite } from './sealing.ts'

const open = postgresBooks()

sealingSuite('PostgreSQL', open)

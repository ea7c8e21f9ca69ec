import { postgresBooks } from '#test/support/books.ts'
import { usageLabelsSuite } from './usage-labels.ts'

usageLabelsSuite('PostgreSQL', postgresBooks())

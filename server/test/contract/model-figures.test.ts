import { postgresBooks } from '#test/support/books.ts'
import { modelFiguresSuite } from './model-figures.ts'

modelFiguresSuite('PostgreSQL', postgresBooks())

import { postgresStores } from '#test/support/ledger-stores.ts'
import { modelFiguresSuite } from './model-figures.ts'

modelFiguresSuite('PostgreSQL', postgresStores())

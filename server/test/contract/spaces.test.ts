import { postgresDirectory } from '#test/support/directory.ts'
import { databaseSpaces, spaceStoreSuite } from './spaces.ts'

const open = databaseSpaces(postgresDirectory())
spaceStoreSuite('PostgreSQL', open, 20)

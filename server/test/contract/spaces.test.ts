import { postgresDirectory } from '#test/support/directory.ts'
import { databaseSpaces, spaceStoreSuite } from './spaces.ts'

spaceStoreSuite('PostgreSQL', databaseSpaces(postgresDirectory()), 20)

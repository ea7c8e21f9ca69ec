import { postgresPeople } from '#test/support/people.ts'
import { peopleSuite } from './people.ts'

peopleSuite('PostgreSQL', postgresPeople())

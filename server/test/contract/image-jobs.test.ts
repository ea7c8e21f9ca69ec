import { imageJobsSuite } from './image-jobs.ts'
import { memoryJobs, pgliteJobs, postgresJobs } from './image-jobs-open.ts'
import { concurrentImageJobsSuite, sqlImageJobsSuite } from './image-jobs-sql.ts'

const [pglite, postgres] = [pgliteJobs(), postgresJobs()]

imageJobsSuite('memory', memoryJobs)
imageJobsSuite('PGlite', pglite)
imageJobsSuite('PostgreSQL', postgres)
sqlImageJobsSuite('PGlite', pglite)
sqlImageJobsSuite('PostgreSQL', postgres)
concurrentImageJobsSuite('PostgreSQL', postgres)

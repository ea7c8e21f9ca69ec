import { fileUploadsSuite } from './file-uploads.ts'
import { postgresFiles } from './files-open.ts'
import { filesSuite } from './files.ts'

const postgres = postgresFiles()
filesSuite('PostgreSQL', postgres)
fileUploadsSuite('PostgreSQL', postgres)

/** `npm run generate`: every file that is made from code. `-- --check` compares instead, and names what differs. */
import '../server/generate/main.ts'
import './client-types/generate.ts'
import './monitoring/generate.ts'
import './folders/generate.ts'

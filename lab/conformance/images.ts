/** Lets every client make pictures through one Torana on every kind of upstream, and prints how it went. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startFakeProvider, type FakeProvider } from '../fake-provider/server.ts'
import { writeContactSheet, type SheetBlock } from './contact-sheet.ts'
import { editFaults } from './edit-faults.ts'
import { aiSdkEditKinds, openaiEditKinds } from './edit-kinds.ts'
import { fileRows, formRows, rowsOfEdits } from './edit-rows.ts'
import { cacheFolder } from './folders.ts'
import { writeGivenPictures } from './given-pictures.ts'
import {
  asProgram,
  chosen,
  chosenClients,
  commonOptions,
  finish,
  inLanes,
  runnable,
  wrongKey,
} from './harness.ts'
import { imageClients, quickImageClients, type ImageClient } from './image-clients.ts'
import { dallE } from './dall-e-rows.ts'
import { callerFaults, reliability, upstreamFaults } from './image-faults.ts'
import { judgePictures, type Pictures, type SavedPicture } from './image-judge.ts'
import { aiSdkKinds, openaiKinds } from './image-kinds.ts'
import { rowsOf, type ImageCase, type ImageRow } from './image-rows.ts'
import { install } from './install.ts'
import { Matrix, type Group } from './matrix.ts'
import { runClient, type ClientAnswer } from './run-client.ts'
import { configFor, startTorana, type Torana } from './torana.ts'
import { unanswered } from './verdict.ts'

const usage = `node lab/conformance/images.ts [--clients openai-7,python] [--scenarios native,luma/url] [--quick]
  --clients    of ${imageClients.map(({ name }) => name).join(', ')}
  --scenarios  rows of the matrix, by name; what stands before the slash names all of its rows
  --quick      only ${quickImageClients.join(', ')}, and fewer questions of each upstream that edits
`

const about = {
  title: 'images',
  legend:
    "✓ is as many pictures as asked for, byte for byte those of the upstream's log unless another format was asked for, bought once; and for faults the right class, status, code and message.",
}

const groups: readonly Group<ImageRow>[] = [
  { title: 'Upstreams of the OpenAI wire', rows: openaiKinds.flatMap(rowsOf) },
  { title: 'Upstreams of other wires', rows: aiSdkKinds.flatMap(rowsOf) },
  { title: 'Apps of the DALL·E years', rows: dallE },
  { title: 'What is bought once though something breaks', rows: reliability },
  { title: 'Faults of an upstream', rows: upstreamFaults },
  { title: 'Faults of the caller', rows: callerFaults },
  { title: 'Edits: upstreams of the OpenAI wire', rows: openaiEditKinds.flatMap(rowsOfEdits) },
  { title: 'Edits: upstreams of other wires', rows: aiSdkEditKinds.flatMap(rowsOfEdits) },
  { title: 'Edits: how a client is handed a file', rows: fileRows },
  { title: 'Edits: how a form is written', rows: formRows },
  { title: 'Edits that fail, are tried again or asked for twice', rows: editFaults },
]
const allRows = groups.flatMap(({ rows }) => rows)

const picturesFolder = join(cacheFolder, 'pictures')
/** A hundred and fifty cases, of which the polled ones take seconds each on two busy cores. */
const clientTimeoutMs = 900_000

/** What a client saved, by case. */
type Album = Map<string, readonly SavedPicture[]>

interface Run {
  readonly rows: readonly ImageRow[]
  readonly torana: Torana
  readonly provider: FakeProvider
  readonly matrix: Matrix
}

async function runOne(client: ImageClient, { rows, torana, provider, matrix }: Run): Promise<Album> {
  const startedMs = performance.now()
  const folder = join(picturesFolder, client.name)
  mkdirSync(folder, { recursive: true })
  const asked = rows
    .filter(({ speciality }) => speciality === client.speciality)
    .flatMap((row) => row.cases(client).map((one) => ({ row, one })))
  const answers = new Map<string, ClientAnswer<Pictures>>()
  const cases = asked.map(({ one }, index) => questionOf(one, torana, join(folder, String(index))))
  const ending = await runClient<Pictures>(client, { cases }, clientTimeoutMs, (answer) => {
    answers.set(answer.case, answer)
  })
  const log = { entries: provider.entries(), picture: (sha256: string) => provider.picture(sha256) }
  const gatewayUrl = new URL(torana.baseUrl).origin
  for (const { row, one } of asked) {
    const answer = answers.get(one.name)
    const verdict =
      answer === undefined ? unanswered(ending) : await judgePictures(client, one, answer, log, gatewayUrl)
    matrix.add(row, client, one.name, verdict)
  }
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  console.error(`${client.name}: ${cases.length} cases in ${seconds} s`)
  return new Map(
    [...answers].map(([name, answer]) => [name, answer.ok ? (answer.pictures ?? []) : []] as const),
  )
}

function questionOf(
  { wrongKey: isWrong, ...asked }: ImageCase,
  { baseUrl, apiKey }: Torana,
  saveAs: string,
): object {
  return {
    ...asked,
    expected: undefined,
    purchases: undefined,
    baseUrl,
    apiKey: isWrong ? wrongKey : apiKey,
    saveAs,
  }
}

/** The first picture of every case of every kind. */
function blockOf(client: ImageClient, album: Album): SheetBlock {
  const made = [...openaiKinds, ...aiSdkKinds].map((kind) => ({ label: kind.name, rows: rowsOf(kind) }))
  const edited = [...openaiEditKinds, ...aiSdkEditKinds].map((kind) => ({
    label: kind.name,
    rows: rowsOfEdits(kind),
  }))
  const lines = [...made, ...edited].map(({ label, rows }) => ({
    label,
    files: rows.map(({ name }) => album.get(name)?.[0]?.file),
  }))
  return { label: client.name, lines: lines.filter(({ files }) => files.some((file) => file !== undefined)) }
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: commonOptions })
  if (values.help) {
    console.log(usage)
    return 0
  }
  const columns = runnable(chosenClients(imageClients, quickImageClients, values), values.clients)
  const rows = chosen(allRows, values.scenarios?.split(','), 'scenarios').filter(
    ({ isThorough = false }) => !isThorough || !values.quick,
  )

  rmSync(picturesFolder, { recursive: true, force: true })
  mkdirSync(picturesFolder, { recursive: true })
  await writeGivenPictures()
  await install(new Set(columns.map(({ toolchain }) => toolchain)))
  const matrix = new Matrix(about, groups, rows, columns)
  const blocks = new Map<ImageClient, SheetBlock>()
  const provider = await startFakeProvider()
  try {
    const torana = await startTorana(configFor(allRows, provider.url), 'torana-images.log')
    try {
      await inLanes(columns, async (client) => {
        blocks.set(client, blockOf(client, await runOne(client, { rows, torana, provider, matrix })))
      })
    } finally {
      await torana.stop()
    }
  } finally {
    await provider.close()
  }
  const sheet = columns.flatMap((client) => blocks.get(client) ?? []).filter(({ lines }) => lines.length > 0)
  if (sheet.length > 0) await writeContactSheet(sheet, join(cacheFolder, 'contact-sheet.png'))
  return finish(matrix, 'matrix-images.md')
}

await asProgram(main)

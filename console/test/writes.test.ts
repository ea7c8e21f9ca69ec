/**
 * Every write of the console, broken in four ways: the node answers 500 or 401, can't be reached, or is slow. The person always sees it, and
 * what was typed survives. The faults are put between browser and node; all else is real, and no write reaches the node.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page, Route } from '@playwright/test'
import * as words from '../src/words/en.ts'
import { collectEnds } from '../../server/test/support/at-end.ts'
import { expect, test } from './support/test.ts'
import { startStage, type Stage } from './support/write-stage.ts'
import { STAGE, textOf, writeTable, type TableRow, type WrittenAt } from './support/write-table.ts'

const SOURCES = join(import.meta.dirname, '../src')
const MESSAGE = 'The fault of this test'
const SLOW_MS = 1500
const SOON = { timeout: 15_000 }

type FaultName = '500' | '401' | 'down' | 'slow'
const FAULTS: readonly FaultName[] = ['500', '401', 'down', 'slow']

let stage: Stage
let end: () => Promise<void>
test.beforeAll(async () => {
  end = collectEnds()
  stage = await startStage()
})

const nameOf = ({ file, method, path }: WrittenAt): string => `${file}: ${method} ${path}`

/** Every `useWrite` in the sources, the runs of the playgrounds, which stream, and the file of a batch, which is sent in parts. */
function writesInCode(): string[] {
  const streams = [
    'api/queries/playground-embeddings.ts: post /api/v1/playground/embeddings',
    'api/image-calls.ts: post /api/v1/playground/images/generations',
    'api/batch-file.ts: post /api/v1/playground/uploads',
  ]
  const found = globSync('**/*.{ts,tsx}', { cwd: SOURCES }).flatMap((file) => {
    const text = readFileSync(join(SOURCES, file), 'utf8')
    return [...text.matchAll(/\buseWrite\(\s*'(\w+)',\s*'([^']+)'/g)].map(([, method, path]) =>
      nameOf({ file, method: method as WrittenAt['method'], path: path ?? '' }),
    )
  })
  return [...found, ...streams]
}

test('the table has a row for every write in the code, and no other', () => {
  const found = new Set(writesInCode())
  assert.ok(found.size > 40, `${found.size} writes`)
  const listed = new Set(writeTable(() => '').map(nameOf))
  assert.deepEqual([...listed].toSorted(), [...found].toSorted())
})

/** Meets the write with a fault, in place of the node. */
async function meet(route: Route, fault: FaultName): Promise<void> {
  const answer = (status: number, code: string) =>
    route.fulfill({
      status,
      json: { error: { message: `${MESSAGE}: ${fault}`, code, param: null, request_id: 'r-1' } },
    })
  switch (fault) {
    case '500':
      return answer(500, 'internal_error')
    case '401':
      return answer(401, 'session_ended')
    case 'down':
      return route.abort('connectionrefused')
    case 'slow':
      await new Promise((resolve) => setTimeout(resolve, SLOW_MS))
      return answer(500, 'internal_error')
  }
}

/** `/api/v1/keys/{project}/{name}` as a pattern of addresses. */
function patternOf(path: string): RegExp {
  return new RegExp(`${path.replaceAll(/\{\w+\}/g, '[^/?]+')}(?:\\?|$)`)
}

async function sees(page: Page, row: TableRow, text: string): Promise<void> {
  const where =
    row.shown === 'toast'
      ? page.getByRole('region', { name: words.ui.notifications })
      : page.getByRole('alert').or(page.getByRole('dialog')).or(page.getByRole('alertdialog'))
  await expect(where.filter({ hasText: text }).first()).toBeVisible(SOON)
}

async function closeToasts(page: Page): Promise<void> {
  const close = page
    .getByRole('region', { name: words.ui.notifications })
    .getByRole('button', { name: words.ui.close })
  while ((await close.count()) > 0) await close.first().click({ force: true })
}

/** What the person sees of a fault; throws when it is nothing. */
async function seen(page: Page, row: TableRow, fault: FaultName): Promise<string> {
  switch (fault) {
    case '500':
      await sees(page, row, `${MESSAGE}: 500`)
      return row.shown
    case 'down':
      await sees(page, row, words.ui.unreachable)
      return row.shown
    case 'slow':
      await expect(page.locator('[aria-busy=true], .sliding').first()).toBeVisible()
      await sees(page, row, `${MESSAGE}: slow`)
      return `busy, then ${row.shown}`
    case '401': {
      if (row.as === 'no one') {
        await sees(page, row, words.ui.signedOut)
        return row.shown
      }
      const dialog = page.getByRole('dialog', { name: words.shell.signInAgain })
      await expect(dialog).toBeVisible(SOON)
      await dialog.getByRole('button', { name: words.shell.signedIn }).click()
      await expect(dialog).toBeHidden(SOON)
      return 'sign-in dialog'
    }
  }
}

const rows = writeTable(() => stage.provider).filter((row) =>
  new RegExp(process.env['TORANA_TEST_WRITE'] ?? '').test(nameOf(row)),
)
const results: string[][] = []
test.afterAll(async () => {
  await end()
  console.log(
    ['| write | 500 | 401 | node unreachable | slow | typed |', '|---|---|---|---|---|---|']
      .concat(results.map((cells) => `| ${cells.join(' | ')} |`))
      .join('\n'),
  )
})

for (const row of rows)
  test(`${nameOf(row)}${row.how === undefined ? '' : `, ${row.how}`}: a person sees every fault`, async ({
    openConsole,
  }) => {
    const { page, context, go } = await openConsole(row.at === '{first run}' ? stage.fresh : stage.node, {
      role: row.as === undefined ? 'admin' : null,
    })
    if (row.as === 'member') await context.addCookies([stage.cookie])
    await go(stage.address(row.at))
    await row.open?.(page)
    const cells: string[] = [
      `\`${row.method} ${row.path.replace('/api/v1', '')}\`${row.how ? `, ${row.how}` : ''}`,
    ]
    const typed = row.typed && page.getByLabel(row.typed[0], { exact: true }).last()
    for (const fault of FAULTS) {
      let met = 0
      const pattern = patternOf(row.path)
      await page.route(pattern, (route) => {
        const request = route.request()
        // A dry run asks what a run would cost.
        const isRead = request.headers()['x-torana-dry-run'] !== undefined
        if (isRead || request.method().toLowerCase() !== row.method) return route.fallback()
        met += 1
        return meet(route, fault)
      })
      await row.send(page)
      cells.push(await seen(page, row, fault))
      assert.ok(met > 0, `${fault}: the write was never sent`)
      await page.unroute(pattern)
      await closeToasts(page)
      if (typed) await expect(typed, `after ${fault}`).toHaveValue(textOf(row.typed?.[1] ?? ''))
    }
    cells.push(row.typed ? 'survives' : '–')
    results.push(cells)
  })

test('an unreachable store raises the bar and is said in the form', async ({ openConsole }) => {
  const { page, go } = await openConsole(stage.node)
  await go('/settings/tokens')
  await page.route(/\/api\/v1\/tokens$/, (route) =>
    route.request().method() === 'GET'
      ? route.fallback()
      : route.fulfill({ status: 503, json: { error: { message: MESSAGE, code: 'store_unreachable' } } }),
  )
  const { tokens } = words.people
  await page.getByRole('button', { name: tokens.new }).click()
  const name = page.getByLabel(tokens.name, { exact: true })
  await name.fill('typed-token')
  await page.getByRole('button', { name: tokens.create }).click()
  await expect(page.getByRole('alert').filter({ hasText: MESSAGE })).toBeVisible(SOON)
  // By its element: the open form hides the rest of the page from roles.
  const [bar = ''] = words.shell.storeUnreachable('…').split('…')
  await expect(page.locator('p[role=status]').filter({ hasText: bar })).toBeVisible(SOON)
  await expect(name).toHaveValue('typed-token')
})

test('a new key with a budget is in the list of budgets that was visited before, without a reload', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(stage.node)
  await go('/budgets')
  await page.getByRole('link', { name: 'Keys', exact: true }).first().click()
  await page.getByRole('button', { name: new RegExp(`^${words.keys.new}`) }).click()
  await page.getByRole('combobox', { name: words.keys.form.project, exact: true }).click()
  await page.getByRole('option', { name: STAGE.project, exact: true }).click()
  await page.getByLabel(words.keys.form.name, { exact: true }).fill('fresh')
  await page.getByLabel(words.keys.form.budget, { exact: true }).fill('3')
  await page.getByRole('button', { name: new RegExp(`^${words.keys.form.create}`) }).click()
  await page.getByText(/tr_/).first().waitFor()
  await page.goBack()
  await expect(page.getByText(/\/fresh/).first()).toBeVisible(SOON)
})

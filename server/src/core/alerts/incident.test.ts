import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { keyOf, stepsOf, type Finding, type OpenIncident, type StepParts } from './incident.ts'
import type { AlertChannel, AlertRule } from './rule.ts'

const NOW_MS = Date.parse('2026-11-18T12:00:00Z')
const CLEAR_MS = 60_000

const channel = (id: string, keepsQuiet = true): AlertChannel => ({
  id,
  name: id,
  kind: 'webhook',
  masked: '',
  keepsQuiet,
})

const rule = (id: string, channels: readonly string[], over: Partial<AlertRule> = {}): AlertRule => ({
  id,
  name: '',
  isOn: true,
  kind: 'budget',
  condition: {},
  scope: { installation: true },
  channels,
  quiet: undefined,
  ...over,
})

const finding = (over: Partial<Finding> = {}): Finding => ({
  kind: 'budget',
  cause: 'project:ads',
  project: 'ads',
  severity: 'warning',
  title: 'ads: 80% of budget used',
  detail: { lines: [], subjects: [], figures: {}, path: '/budgets' },
  level: 80,
  grouped: 1,
  ...over,
})

const open = (over: Partial<OpenIncident> = {}): OpenIncident => ({
  ...finding(),
  id: 'one',
  rules: ['a'],
  startedAtMs: NOW_MS - 1000,
  ...over,
})

const parts = (over: Partial<StepParts>): StepParts => ({
  open: [],
  found: [],
  rules: [],
  channels: [channel('x'), channel('y')],
  goneSinceMs: new Map(),
  clearMs: CLEAR_MS,
  nowMs: NOW_MS,
  newId: () => 'new',
  installation: 'eu',
  consoleUrl: 'https://torana.example',
  isoOf: (ms) => new Date(ms).toISOString(),
  ...over,
})

const announced = ({ steps }: ReturnType<typeof stepsOf>) =>
  steps.map(({ step, notices }) => [step, notices.map((one) => `${one.phase} ${one.channel}`)])

test('an incident starts when the trouble began, in the list and in its notice', () => {
  const found = [{ rule: rule('a', ['x']), finding: finding({ sinceMs: NOW_MS - 90_000 }) }]
  const [step] = stepsOf(parts({ found })).steps
  assert.equal(step?.incident.startedAtMs, NOW_MS - 90_000)
  assert.equal(step?.notices[0]?.notice.startedAt, new Date(NOW_MS - 90_000).toISOString())
  const unknown = stepsOf(parts({ found: [{ rule: rule('a', ['x']), finding: finding() }] })).steps[0]
  assert.equal(unknown?.incident.startedAtMs, NOW_MS)
})

test('rules that find the same are one incident, and a channel that both name hears of it once', () => {
  const [a, b] = [rule('a', ['x']), rule('b', ['x', 'y'])]
  const found = [
    { rule: a, finding: finding() },
    { rule: b, finding: finding({ level: 50 }) },
  ]
  const result = stepsOf(parts({ found, rules: [a, b] }))
  assert.deepEqual(announced(result), [['start', ['start x', 'start y']]])
  assert.deepEqual(result.steps[0]?.incident.rules, ['a', 'b'])
  assert.equal(result.steps[0]?.incident.level, 80)
})

test('an incident that is found again is not announced again', () => {
  const a = rule('a', ['x'])
  const result = stepsOf(parts({ open: [open()], found: [{ rule: a, finding: finding() }], rules: [a] }))
  assert.deepEqual(result.steps, [])
})

test('a further mark is announced once, to those who asked for it', () => {
  const [a, b] = [rule('a', ['x']), rule('b', ['y'])]
  const found = [
    { rule: a, finding: finding({ level: 100 }) },
    { rule: b, finding: finding({ level: 80 }) },
  ]
  const result = stepsOf(parts({ open: [open({ rules: ['a', 'b'] })], found, rules: [a, b] }))
  assert.deepEqual(announced(result), [['worse', ['worse x']]])
  assert.equal(result.steps[0]?.notices[0]?.sequence, 100)
})

test('a rule that joins later has its channels hear of the start', () => {
  const [a, b] = [rule('a', ['x']), rule('b', ['y'])]
  const found = [a, b].map((one) => ({ rule: one, finding: finding() }))
  const result = stepsOf(parts({ open: [open()], found, rules: [a, b] }))
  assert.deepEqual(announced(result), [['change', ['start y']]])
})

test('an incident ends when its cause has been gone for a minute, and a moment without it ends nothing', () => {
  const incident = open()
  const first = stepsOf(parts({ open: [incident] }))
  assert.deepEqual(first.steps, [])
  const key = keyOf(incident)
  assert.equal(first.goneSinceMs.get(key), NOW_MS)
  const early = parts({ open: [incident], goneSinceMs: first.goneSinceMs, nowMs: NOW_MS + CLEAR_MS - 1 })
  assert.deepEqual(stepsOf(early).steps, [])
  const late = stepsOf({ ...early, nowMs: NOW_MS + CLEAR_MS })
  assert.deepEqual(announced(late), [['end', ['end x', 'end y']]])
  const back = stepsOf({ ...early, found: [{ rule: rule('a', ['x']), finding: finding() }] })
  assert.equal(back.goneSinceMs.has(key), false)
})

test('quiet hours hold a notice, unless the channel or another rule does not keep them', () => {
  const quiet = { days: [1, 2, 3, 4, 5, 6, 7], from: '10:00', to: '14:00', zone: 'UTC' }
  const held = (rules: readonly AlertRule[], keepsQuiet: boolean) =>
    stepsOf(
      parts({
        found: rules.map((one) => ({ rule: one, finding: finding() })),
        rules,
        channels: [channel('x', keepsQuiet)],
      }),
    ).steps[0]?.notices[0]?.heldUntilMs
  const silent = rule('a', ['x'], { quiet })
  assert.equal(held([silent], true), Date.parse('2026-11-18T14:00:00Z'))
  assert.equal(held([silent], false), undefined)
  assert.equal(held([silent, rule('b', ['x'])], true), undefined)
})

test('whatever comes and goes, an incident starts once, ends once, and has one start and one end for a channel', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ level: fc.constantFrom(0, 50, 80, 100), ms: fc.nat(70_000) })),
      (looks) => {
        const a = rule('a', ['x'])
        let [nowMs, ids] = [NOW_MS, 0]
        let [incidents, goneSinceMs]: [OpenIncident[], ReadonlyMap<string, number>] = [[], new Map()]
        const sequences = new Map<string, number[]>()
        for (const { level, ms } of looks) {
          nowMs += ms
          const found = level === 0 ? [] : [{ rule: a, finding: finding({ level }) }]
          const newId = () => String((ids += 1))
          const given = parts({
            open: incidents,
            found,
            rules: [a],
            goneSinceMs,
            nowMs,
            newId,
            channels: [channel('x')],
          })
          const result = stepsOf(given)
          goneSinceMs = result.goneSinceMs
          for (const { step, incident, notices } of result.steps) {
            incidents = step === 'end' ? [] : [incident]
            const before = sequences.get(incident.id) ?? []
            sequences.set(incident.id, [...before, ...notices.map(({ sequence }) => sequence)])
          }
          assert.ok(incidents.length <= 1)
        }
        for (const own of sequences.values()) {
          assert.equal(own[0], 0)
          assert.deepEqual(
            own,
            [...new Set(own)].sort((one, two) => one - two),
          )
        }
      },
    ),
  )
})

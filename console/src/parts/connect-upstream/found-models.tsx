/** The models that a check found: tick those that callers shall have. */
import { Fragment, useState } from 'react'
import { day, whole } from '../../app/format.ts'
import { Select } from '../../ui/select.tsx'
import { Tick } from '../../ui/switch.tsx'
import { Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import type { Found } from './form.ts'
import { isServed, type Beside, type Role } from './fallbacks.ts'
import { GivenPriceField, type GivenPrice } from './given-price.tsx'
import { listPrice } from './price-words.ts'

/** What a model is that Torana has no facts about, as a person says it. */
export interface OwnKind {
  readonly kind: 'embedding' | 'image'
  readonly width: number
}

interface FoundModelsProps {
  readonly found: readonly Found[]
  readonly ticked: ReadonlySet<string>
  readonly onTick: (ticked: ReadonlySet<string>) => void
  readonly own: ReadonlyMap<string, OwnKind>
  readonly onOwn: (own: ReadonlyMap<string, OwnKind>) => void
  /** Of models without a list price, as a person says it. */
  readonly prices: ReadonlyMap<string, GivenPrice>
  readonly onPrices: (prices: ReadonlyMap<string, GivenPrice>) => void
  /** Of models that are served already. Undefined: none of them can be added here. */
  readonly fallbacks: Fallbacks | undefined
}

interface Fallbacks {
  readonly besideOf: (model: string) => Beside
  /** Those that share the traffic of tier 1. */
  readonly sharing: ReadonlySet<string>
  readonly onSharing: (sharing: ReadonlySet<string>) => void
}

export function FoundModels(props: FoundModelsProps) {
  const { found, ticked, onTick, own, onOwn, prices, onPrices, fallbacks } = props
  const [showsAll, setShowsAll] = useState(false)
  const isShown = (model: Found): boolean => model.known || isServed(model)
  const others = found.filter((model) => !isShown(model))
  const shown = showsAll ? found : found.filter(isShown)
  const tick = (id: string, next: boolean): void => {
    const after = new Set(ticked)
    if (next) after.add(id)
    else after.delete(id)
    onTick(after)
  }
  const setPrice = (id: string, price: GivenPrice | undefined): void => {
    const after = new Map(prices)
    if (price === undefined) after.delete(id)
    else after.set(id, price)
    onPrices(after)
  }
  if (found.length === 0) return <p className="text-ink-2">{words.upstreams.noModels}</p>
  return (
    <div className="flex flex-col gap-3">
      <div className="max-h-72 overflow-auto rounded-control border border-line">
        <table className="w-full border-collapse text-13">
          <thead>
            <tr className="text-12 text-ink-3">
              <th className="sticky top-0 w-9 bg-surface" aria-hidden />
              <Head>{words.upstreams.ofModels(ticked.size, found.length)}</Head>
              <Head>{words.upstreams.kind}</Head>
              <Head right>{words.upstreams.price}</Head>
              <Head right>{words.upstreams.priceOf}</Head>
            </tr>
          </thead>
          <tbody>
            {shown.map((model) => (
              <Fragment key={model.id}>
                <tr className="border-t border-line">
                  <td className="h-8 pl-3">
                    <Tick
                      label={model.id}
                      checked={ticked.has(model.id)}
                      disabled={
                        isServed(model) ? fallbacks === undefined : !model.known && !own.has(model.id)
                      }
                      onChange={(next) => tick(model.id, next)}
                    />
                  </td>
                  <td className="max-w-48 truncate px-2.5 font-[550]">{model.id}</td>
                  {isServed(model) ? (
                    <td colSpan={3} className="px-2.5 pr-3 text-right">
                      <Tag>{words.upstreams.inUse}</Tag>
                    </td>
                  ) : model.known ? (
                    <KnownCells
                      model={model}
                      isTicked={ticked.has(model.id)}
                      given={prices.get(model.id)}
                      onPrice={(price) => setPrice(model.id, price)}
                    />
                  ) : (
                    <OwnCells
                      model={model.id}
                      value={own.get(model.id)}
                      given={prices.get(model.id)}
                      onPrice={(price) => setPrice(model.id, price)}
                      onChange={(kind) => {
                        onOwn(new Map(own).set(model.id, kind))
                        tick(model.id, true)
                      }}
                    />
                  )}
                </tr>
                {isServed(model) && ticked.has(model.id) && fallbacks !== undefined && (
                  <FallbackRow
                    model={model}
                    fallbacks={fallbacks}
                    given={prices.get(model.id)}
                    onPrice={(price) => setPrice(model.id, price)}
                  />
                )}
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
      {others.length > 0 && (
        <button type="button" className="link self-start text-12" onClick={() => setShowsAll(!showsAll)}>
          {showsAll ? words.upstreams.hideOthers : words.upstreams.showOthers(others.length)}
        </button>
      )}
    </div>
  )
}

function Head({ right = false, children }: { readonly right?: boolean; readonly children: string }) {
  return (
    <th
      className={`sticky top-0 h-8 bg-surface px-2.5 font-medium whitespace-nowrap ${right ? 'text-right last:pr-3' : 'text-left'}`}
    >
      {children}
    </th>
  )
}

/** A model that Torana would serve without a price, unless a person gives one. */
export function lacksPrice(model: Found): boolean {
  return listPrice(model.price) === undefined
}

interface PriceProps {
  readonly given: GivenPrice | undefined
  readonly onPrice: (price: GivenPrice | undefined) => void
}

interface KnownProps extends PriceProps {
  readonly model: Found
  readonly isTicked: boolean
}

function KnownCells({ model, isTicked, given, onPrice }: KnownProps) {
  const price = listPrice(model.price)

  return (
    <>
      <td className="px-2.5 whitespace-nowrap text-ink-2">{kindText(model)}</td>
      {price === undefined && isTicked ? (
        <td colSpan={2} className="py-1 pr-3 pl-2.5">
          <GivenPriceField
            model={model.id}
            kind={model.kind ?? 'embedding'}
            value={given}
            onChange={onPrice}
          />
        </td>
      ) : (
        <>
          <td className="px-2.5 text-right whitespace-nowrap tabular-nums">
            {price ?? <Tag tone="warn">{words.upstreams.noPrice}</Tag>}
          </td>
          <td className="px-2.5 pr-3 text-right text-12 whitespace-nowrap text-ink-3 tabular-nums">
            {model.as_of === null ? '–' : day(model.as_of, 'UTC')}
          </td>
        </>
      )}
    </>
  )
}

interface FallbackProps extends PriceProps {
  readonly model: Found
  readonly fallbacks: Fallbacks
}

/** The role of a further deployment of a model: a fallback, unless the admin chooses otherwise. */
function FallbackRow({ model, fallbacks, given, onPrice }: FallbackProps) {
  const say = words.upstreams
  const { tier, price } = fallbacks.besideOf(model.id)
  const setRole = (role: Role): void => {
    const sharing = new Set(fallbacks.sharing)
    if (role === 'share') sharing.add(model.id)
    else sharing.delete(model.id)
    fallbacks.onSharing(sharing)
  }
  return (
    <tr>
      <td />
      <td colSpan={4} className="pr-3 pb-2 pl-2.5">
        <span className="flex items-center gap-1.5 phone:flex-col phone:items-start">
          <span className="w-52">
            <Select
              label={say.roleOf(model.id)}
              className="phone:h-9"
              value={fallbacks.sharing.has(model.id) ? 'share' : 'fallback'}
              options={[
                { value: 'fallback', label: say.asFallback(tier) },
                { value: 'share', label: say.shareTraffic },
              ]}
              onChange={setRole}
            />
          </span>
          {lacksPrice(model) ? (
            <GivenPriceField
              model={model.id}
              kind={model.kind ?? 'embedding'}
              value={given}
              same={price}
              onChange={onPrice}
            />
          ) : (
            <span className="tabular-nums">{listPrice(model.price)}</span>
          )}
        </span>
      </td>
    </tr>
  )
}

function OwnCells({
  model,
  value,
  given,
  onPrice,
  onChange,
}: PriceProps & {
  readonly model: string
  readonly value: OwnKind | undefined
  readonly onChange: (kind: OwnKind) => void
}) {
  return (
    <td colSpan={3} className="px-2.5 py-1 pr-3">
      <span className="flex flex-col items-end gap-1">
        <span className="flex items-center gap-2 text-12 whitespace-nowrap text-ink-3">
          {words.upstreams.makes}
          <span className="w-28">
            <Select
              label={words.upstreams.makes}
              className="phone:h-8"
              value={value?.kind ?? 'none'}
              options={[
                { value: 'none', label: '–' },
                { value: 'embedding', label: words.upstreams.embeddings },
                { value: 'image', label: words.upstreams.images },
              ]}
              onChange={(kind) => kind !== 'none' && onChange({ kind, width: value?.width ?? 1024 })}
            />
          </span>
          {value?.kind === 'embedding' && (
            <>
              <input
                type="number"
                aria-label={words.upstreams.width}
                min={1}
                max={65_536}
                value={value.width}
                className="h-8 w-20 rounded-control border border-line-strong bg-surface px-2 text-13 text-ink"
                onChange={(event) => onChange({ kind: 'embedding', width: Number(event.target.value) })}
              />
              {words.upstreams.width}
            </>
          )}
        </span>
        {value !== undefined && (
          <GivenPriceField model={model} kind={value.kind} value={given} onChange={onPrice} />
        )}
      </span>
    </td>
  )
}

/** `1,536 wide, any narrower` · `images, edits, masks`. */
function kindText({ kind, width, narrower, can }: Found): string {
  const say = words.upstreams
  if (kind === 'embedding') {
    const more =
      narrower === 'any'
        ? say.anyNarrower
        : Array.isArray(narrower)
          ? say.narrowerTo(narrower.map(whole).join(' · '))
          : say.thisWidthOnly
    return `${say.wide(width ?? 0)}${more}`
  }
  const parts = [
    say.images,
    ...(can['edits'] ? [say.edits] : []),
    ...(can['mask'] ? [say.masks] : []),
    ...(can['markup'] ? [say.markup] : []),
  ]
  return parts.join(', ')
}

/** What this deployment does with each option: itself, Torana for it, or not at all. */
import { useQuery } from '@tanstack/react-query'
import { paths } from '../../app/paths.ts'
import type { Deployment } from '../../api/queries/deployments.ts'
import { modelQueries } from '../../api/queries/models.ts'
import { TextLink } from '../../ui/link.tsx'
import { Problem } from '../../ui/problem.tsx'
import { StateMark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import { nameOf } from './state.tsx'

export function CapabilitiesTab({ one }: { readonly one: Deployment }) {
  const { capabilities } = words.deployments
  const model = useQuery(modelQueries.one(one.model))
  if (model.error !== null) return <Problem error={model.error} retry={() => void model.refetch()} />
  return (
    <div className="flex flex-col gap-3">
      <table className="w-full border-collapse" aria-label={words.deployments.tabs.capabilities}>
        <thead>
          <tr className="text-left text-12 text-ink-2">
            <th scope="col" className="h-8 w-60 border-b border-line font-medium">
              {capabilities.option}
            </th>
            <th scope="col" className="h-8 border-b border-line font-medium">
              {nameOf(one)}
            </th>
          </tr>
        </thead>
        <tbody>
          {model.data?.options.map(({ option, by_deployment: by }) => {
            const cell = by[one.id]
            if (cell === undefined) return null
            const { how, value } = cell
            return (
              <tr key={option} className="h-8 border-b border-line">
                <th scope="row" className="text-left font-normal">
                  {option}
                </th>
                <td>
                  <span className="inline-flex items-center gap-2">
                    {how !== 'value' && (
                      <StateMark
                        mark={how === 'native' ? 'good' : how === 'emulated' ? 'wait' : 'off'}
                        word=""
                        size={9}
                      />
                    )}
                    {how === 'native'
                      ? capabilities.native
                      : how === 'refused' && value === ''
                        ? capabilities.refused
                        : value}
                  </span>
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
      <p className="text-12">
        <TextLink to={paths.model(one.model)}>{capabilities.open}</TextLink>
      </p>
    </div>
  )
}

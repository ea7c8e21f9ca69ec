/** The images playground: pictures from words, and edits of pictures with a painted mask. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { modelQueries } from '../../api/queries/models.ts'
import { shellQueries } from '../../api/queries/shell.ts'
import { paths } from '../../app/paths.ts'
import { useMay, useSession } from '../../app/session.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { words } from '../../words/words.ts'
import { Workbench } from './workbench.tsx'
import { isImageModel } from './settings.ts'
import { images as place } from './place.ts'

export function ImagesPage() {
  const search = place.useSearch()
  const models = useQuery(modelQueries.all(search.project))
  const projects = useQuery(shellQueries.projects())
  const [chosen, setChosen] = useState<string>()
  const session = useSession()
  const may = useMay()
  const text = words.images
  const names = (projects.data?.data ?? [])
    .map(({ name }) => name)
    .filter((name) => session.projects === null || session.projects.includes(name))
  const offered = search.project === undefined ? names : [search.project]
  const project = offered.find((name) => name === chosen) ?? offered[0]
  const imageModels = models.data?.data.filter(isImageModel)
  const problem = models.error ?? projects.error
  if (project !== undefined && imageModels !== undefined && imageModels.length > 0)
    return (
      <Workbench
        search={search}
        models={imageModels}
        projects={offered}
        project={project}
        onProject={setChosen}
      />
    )
  return (
    <Page title={text.title} beside={<span className="text-12 text-ink-3">{text.place}</span>}>
      {!may('playground.run') ? (
        <Empty title={text.mayNot} />
      ) : problem !== null ? (
        <Problem error={problem} retry={() => void models.refetch()} />
      ) : imageModels?.length === 0 ? (
        <Empty
          title={text.noModel}
          actions={<ButtonLink to={paths.models()}>{words.models.connectUpstream}</ButtonLink>}
        >
          {text.noModelNext}
        </Empty>
      ) : (
        projects.data !== undefined && <Empty title={text.noProject} />
      )}
    </Page>
  )
}

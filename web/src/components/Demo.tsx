import { Button, Group, Text } from '@mantine/core'
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, unwrap } from '../api/client'
import { useAct } from '../lib/act'
import { useAtLeast, useMe } from '../lib/session'
import { useConfirm } from './Confirm'

const demoQuery = queryOptions({
  queryKey: ['demo'],
  staleTime: 300_000,
  queryFn: () => unwrap(api.GET('/api/v1/demo')),
})

/** Whether the open workspace is the demo. */
export function useIsDemo(): boolean {
  const me = useMe()
  return useQuery(demoQuery).data?.workspace?.id === me.workspace.id
}

/** Creates the demo, opens it, or removes it with everything in it. Nothing without the sandbox. */
export function DemoControls() {
  const { t } = useTranslation()
  const me = useMe()
  const owner = useAtLeast('owner')
  const client = useQueryClient()
  const demo = useQuery(demoQuery).data
  const [dialog, ask] = useConfirm()
  // Everything belongs to another workspace then.
  const accepted = () => client.resetQueries()
  const open = useAct({
    send: (workspace_id: string) => unwrap(api.PATCH('/api/v1/session', { body: { workspace_id } })),
    done: () => undefined,
    accepted,
  })
  const create = useAct({
    send: async () => {
      const { id } = await unwrap(api.POST('/api/v1/demo'))
      return unwrap(api.PATCH('/api/v1/session', { body: { workspace_id: id } }))
    },
    done: () => t('demo.created'),
    accepted,
  })
  const remove = useAct({
    send: () => unwrap(api.DELETE('/api/v1/demo')),
    done: () => t('demo.removed'),
    accepted,
  })
  const there = demo?.workspace
  const inside = there?.id === me.workspace.id
  if (!demo?.available || (!owner && !there)) return null
  return (
    <Group justify="space-between" gap="sm" data-demo={there ? 'created' : 'none'}>
      {dialog}
      <Text size="sm" flex="1 1 16rem">
        {t(inside ? 'demo.inside' : 'demo.text')}
      </Text>
      <Group gap="xs">
        {!there && (
          <Button variant="default" loading={create.isPending} onClick={() => create.mutate(undefined)}>
            {t('demo.create')}
          </Button>
        )}
        {there && !inside && (
          <Button variant="default" loading={open.isPending} onClick={() => open.mutate(there.id)}>
            {t('demo.open')}
          </Button>
        )}
        {there && owner && (
          <Button
            variant="default"
            loading={remove.isPending}
            onClick={() =>
              ask({
                title: t('demo.removeTitle'),
                text: t('demo.removeText'),
                action: t('demo.remove'),
                danger: true,
                run: () => remove.mutate(undefined),
              })
            }
          >
            {t('demo.remove')}
          </Button>
        )}
      </Group>
    </Group>
  )
}

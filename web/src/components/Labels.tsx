import {
  Button,
  Checkbox,
  Group,
  Popover,
  ScrollArea,
  SegmentedControl,
  Stack,
  Text,
  TextInput,
  ActionIcon,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconFlag, IconPencil, IconPlus, IconTag, IconTrash } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Post, type Schemas, unwrap } from '../api/client'
import { NotLoaded } from './states'
import { fold } from '../lib/fold'
import { refreshPosts } from '../lib/posts'
import { labelsQuery } from '../lib/queries'
import { useAtLeast } from '../lib/session'
import { ColorChoice, colorNames } from './ColorChoice'
import { useConfirm } from './Confirm'
import { type Utm, UtmFields } from './Utm'
import { Modal } from './Modal'
import { useAct } from '../lib/act'
import { showChange } from '../lib/optimistic'
import { forget, useFormState } from '../lib/formState'

type Label = Schemas['Label']
type Kind = Label['kind']

/** The labels of a post as small colored marks, its campaign first. */
export function LabelChips({ ids, max = 20 }: { ids?: string[]; max?: number }) {
  const all = useQuery({ ...labelsQuery, enabled: (ids?.length ?? 0) > 0 }).data
  const { t } = useTranslation()
  if (!ids?.length || !all) return null
  const own = all.filter((l) => ids.includes(l.id)) // campaigns come first
  return (
    <Group gap={4} wrap="nowrap" component="span" className="dl-labels">
      {own.slice(0, max).map((l) => (
        <span
          key={l.id}
          className="dl-label"
          style={{ '--dl-color': `var(--mantine-color-${l.color}-6)` } as object}
          title={`${t(`labels.kinds.${l.kind}`)}: ${l.name}`}
          data-label={l.name}
        >
          {l.kind === 'campaign' ? (
            <IconFlag size={12} aria-label={t('labels.kinds.campaign')} role="img" />
          ) : (
            <span className="dl-dot" aria-hidden />
          )}
          <span>{l.name}</span>
        </span>
      ))}
      {own.length > max && (
        <span
          className="dl-label"
          title={own
            .slice(max)
            .map((l) => l.name)
            .join(', ')}
        >
          +{own.length - max}
        </span>
      )}
    </Group>
  )
}

/** Adds labels to posts and removes them, at once and in any state of the posts. */
export function LabelMenu({
  posts,
  size = 'sm',
  mt,
}: {
  posts: Pick<Post, 'id' | 'labels'>[]
  size?: 'xs' | 'sm'
  mt?: number
}) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const stored = useQuery(labelsQuery)
  const all = stored.data ?? []
  const [opened, { toggle, close }] = useDisclosure()
  const [typed, setTyped] = useState('')
  const [kind, setKind] = useState<Kind>('label')
  // What was just chosen is shown before the posts are fetched again.
  const [chosen, setChosen] = useState<Record<string, boolean>>({})
  const has = (p: Pick<Post, 'labels'>, id: string) => p.labels?.includes(id) ?? false
  const isOn = (id: string) => chosen[id] ?? posts.every((p) => has(p, id))
  // The campaigns that another one would replace. If all posts have the same, that can be undone.
  const replaced = [
    ...new Set(posts.flatMap((p) => all.filter((l) => l.kind === 'campaign' && has(p, l.id)).map((l) => l.id))),
  ]
  const insteadOf = (l: Label) =>
    l.kind === 'campaign' &&
    replaced.length === 1 &&
    replaced[0] !== l.id &&
    posts.every((p) => has(p, replaced[0] ?? ''))
      ? all.find((one) => one.id === replaced[0])
      : undefined
  const apply = useAct({
    send: async ({ label, on }: { label: Label; on: boolean; instead?: Label }) =>
      (
        await unwrap(
          api.POST('/api/v1/posts/labels', {
            body: { posts: posts.map((p) => p.id), ...(on ? { add: [label.id] } : { remove: [label.id] }) },
          }),
        )
      ).changed,
    show: ({ label, on }) => {
      setChosen((was) => ({
        ...was,
        ...(on && label.kind === 'campaign'
          ? Object.fromEntries(all.filter((l) => l.kind === 'campaign').map((l) => [l.id, false]))
          : {}),
        [label.id]: on,
      }))
      return () => setChosen({})
    },
    done: (changed, { label, on }) =>
      changed.length > 0
        ? t(on ? 'labels.added' : 'labels.removed', { name: label.name, count: changed.length })
        : undefined,
    // A campaign takes the place of another one: undone, that one takes its place again.
    undo: (_, { label, on, instead }) =>
      label.kind === 'label'
        ? { label, on: !on }
        : instead
          ? { label: instead, on: true, instead: label }
          : replaced.length === 0 || !on
            ? { label, on: !on }
            : undefined,
    failed: ({ label }) => t('act.refused', { name: label.name }),
    accepted: (changed) => {
      refreshPosts(client, changed)
      for (const id of changed) void client.invalidateQueries({ queryKey: ['post', id] })
    },
  })
  const make = useAct({
    send: () =>
      unwrap(
        api.POST('/api/v1/labels', {
          body: { name: typed.trim(), kind, color: nextColor(all.length) },
        }),
      ),
    accepted: (label) => {
      client.setQueryData(labelsQuery.queryKey, [...all, label])
      void client.invalidateQueries(labelsQuery)
      setTyped('')
      apply.mutate({ label, on: true, instead: insteadOf(label) })
    },
    done: () => undefined, // applying it says so
  })
  const found = all.filter((l) => fold(l.name).includes(fold(typed.trim())))
  const isNew = typed.trim() !== '' && !all.some((l) => l.kind === kind && fold(l.name) === fold(typed.trim()))
  const open = () => {
    setChosen({})
    toggle()
  }
  return (
    <Popover
      opened={opened}
      onChange={(o) => !o && close()}
      position="bottom-start"
      trapFocus
      returnFocus
      withRoles
      width={280}
    >
      <Popover.Target>
        <Button
          variant="default"
          size={size}
          mt={mt}
          leftSection={<IconTag size={16} aria-hidden />}
          onClick={open}
          disabled={posts.length === 0}
        >
          {t('labels.choose')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('labels.choose')}>
        <Stack gap="xs">
          <TextInput
            data-autofocus
            aria-label={t('labels.find')}
            placeholder={t('labels.find')}
            value={typed}
            maxLength={60}
            onChange={(e) => setTyped(e.currentTarget.value)}
            onKeyDown={(e) => e.key === 'Enter' && isNew && make.mutate()}
          />
          <ScrollArea.Autosize mah={260}>
            {(['campaign', 'label'] as const).map((k) => {
              const here = found.filter((l) => l.kind === k)
              return (
                here.length > 0 && (
                  // biome-ignore lint/a11y/useSemanticElements: a fieldset would change the layout
                  <div key={k} role="group" aria-label={t(`labels.many.${k}`)}>
                    <Text size="xs" c="dimmed" fw={600} mt={4}>
                      {t(`labels.many.${k}`)}
                    </Text>
                    {here.map((l) => (
                      <Checkbox
                        key={l.id}
                        py={5}
                        checked={isOn(l.id)}
                        indeterminate={!isOn(l.id) && chosen[l.id] === undefined && posts.some((p) => has(p, l.id))}
                        onChange={(e) => apply.mutate({ label: l, on: e.currentTarget.checked, instead: insteadOf(l) })}
                        label={
                          <span
                            className="dl-label"
                            style={{ '--dl-color': `var(--mantine-color-${l.color}-6)` } as object}
                          >
                            <span className="dl-dot" aria-hidden />
                            <span>{l.name}</span>
                          </span>
                        }
                      />
                    ))}
                  </div>
                )
              )
            })}
            <NotLoaded what={t('labels.choose')} queries={[stored]} />
            {stored.data?.length === 0 && (
              <Text size="sm" c="dimmed">
                {t('labels.none')}
              </Text>
            )}
          </ScrollArea.Autosize>
          {isNew && (
            <>
              <SegmentedControl
                size="xs"
                aria-label={t('labels.kind')}
                value={kind}
                onChange={(v) => setKind(v as Kind)}
                data={(['label', 'campaign'] as const).map((value) => ({ value, label: t(`labels.kinds.${value}`) }))}
              />
              <Button
                size="xs"
                leftSection={<IconPlus size={16} aria-hidden />}
                loading={make.isPending}
                onClick={() => make.mutate()}
              >
                {t('labels.create', { name: typed.trim() })}
              </Button>
            </>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

/** Renames, recolors and deletes labels. */
export function ManageLabels() {
  const { t } = useTranslation()
  const [opened, { open, close }] = useDisclosure()
  const stored = useQuery(labelsQuery)
  const [edited, setEdited] = useState<Label>()
  if (!useAtLeast('editor')) return null
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={t('labels.manage')}
        title={t('labels.manage')}
        onClick={open}
      >
        <IconTag size={18} aria-hidden />
      </ActionIcon>
      <Modal opened={opened} onClose={close} title={t('labels.manage')} closeButtonProps={{ 'aria-label': t('close') }}>
        <Stack gap={4}>
          <NotLoaded what={t('labels.choose')} queries={[stored]} />
          {stored.data?.map((l) =>
            edited?.id === l.id ? (
              <EditLabel key={l.id} label={l} close={() => setEdited(undefined)} />
            ) : (
              <Group key={l.id} justify="space-between" wrap="nowrap" className="dl-labels-whole">
                <LabelChips ids={[l.id]} />
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={t('labels.edit', { name: l.name })}
                  onClick={() => setEdited(l)}
                >
                  <IconPencil size={18} aria-hidden />
                </ActionIcon>
              </Group>
            ),
          )}
          <NewLabel />
        </Stack>
      </Modal>
    </>
  )
}

/** The color of the next label: neighbors differ. */
const nextColor = (count: number) => colorNames[(count * 5 + 6) % colorNames.length] ?? 'blue'

function NewLabel() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const all = useQuery(labelsQuery).data ?? []
  const form = 'new label'
  const [name, setName] = useFormState(form, 'name', '')
  const [kind, setKind] = useFormState<Kind>(form, 'kind', 'label')
  const make = useAct<void, Label>({
    send: async () => {
      const made = await unwrap(
        api.POST('/api/v1/labels', { body: { name: name.trim(), kind, color: nextColor(all.length) } }),
      )
      forget(form)
      return made
    },
    done: (made) => t('labels.created', { name: made.name }),
    settled: () => void client.invalidateQueries(labelsQuery),
  })
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault()
        make.mutate()
      }}
    >
      <Group gap="xs" align="flex-end" mt="xs">
        <TextInput
          label={t('labels.new')}
          maxLength={60}
          flex={1}
          miw={140}
          value={name}
          onChange={(e) => setName(e.currentTarget.value)}
        />
        <SegmentedControl
          size="xs"
          aria-label={t('labels.kind')}
          value={kind}
          onChange={(v) => setKind(v as Kind)}
          data={(['label', 'campaign'] as const).map((value) => ({ value, label: t(`labels.kinds.${value}`) }))}
        />
        <Button
          type="submit"
          leftSection={<IconPlus size={16} aria-hidden />}
          disabled={name.trim() === ''}
          loading={make.isPending}
        >
          {t('readers.create')}
        </Button>
      </Group>
    </form>
  )
}

function EditLabel({ label, close }: { label: Label; close: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const form = `label ${label.id}`
  const [name, setName] = useFormState(form, 'name', label.name)
  const [color, setColor] = useFormState(form, 'color', label.color)
  const [utm, setUtm] = useFormState<Utm>(form, 'utm', label.utm ?? {})
  const [dialog, ask] = useConfirm()
  const params = { path: { id: label.id } }
  const settled = () => {
    void client.invalidateQueries(labelsQuery)
    refreshPosts(client)
  }
  const save = useAct({
    send: () =>
      unwrap(
        api.PATCH('/api/v1/labels/{id}', {
          params,
          body: { name: name.trim(), color, ...(label.kind === 'campaign' ? { utm } : {}) },
        }),
      ),
    accepted: () => {
      forget(form)
      close()
    },
    settled,
    done: () => t('act.saved', { name: name.trim() }),
  })
  const remove = useAct({
    send: () => unwrap(api.DELETE('/api/v1/labels/{id}', { params })),
    show: () => showChange<Label>(client, labelsQuery.queryKey, (one) => (one.id === label.id ? undefined : one)),
    accepted: close,
    settled,
    done: () => t('act.deleted', { name: label.name }),
  })
  return (
    <Stack gap="xs" className="dl-card" p="sm">
      {dialog}
      <TextInput
        label={t('labels.name')}
        value={name}
        maxLength={60}
        data-autofocus
        onChange={(e) => setName(e.currentTarget.value)}
      />
      <ColorChoice label={t('labels.color')} value={color} onChange={setColor} />
      {label.kind === 'campaign' && <UtmFields label={t('utm.ofCampaign')} value={utm} change={setUtm} />}
      <Group justify="space-between" gap="xs">
        <Button
          variant="subtle"
          color="red"
          leftSection={<IconTrash size={16} aria-hidden />}
          onClick={() =>
            ask({
              title: t('labels.deleteTitle', { name: label.name }),
              text: t('labels.deleteText'),
              action: t('labels.delete'),
              danger: true,
              run: () => remove.mutate(),
            })
          }
        >
          {t('labels.delete')}
        </Button>
        <Group gap="xs">
          <Button variant="default" onClick={close}>
            {t('cancel')}
          </Button>
          <Button disabled={name.trim() === ''} loading={save.isPending} onClick={() => save.mutate()}>
            {t('save')}
          </Button>
        </Group>
      </Group>
    </Stack>
  )
}

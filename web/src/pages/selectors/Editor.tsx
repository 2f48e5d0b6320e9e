import {
  ActionIcon,
  Alert,
  Button,
  Checkbox,
  Fieldset,
  Group,
  Select,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconDeviceFloppy, IconPlus, IconTrash } from '@tabler/icons-react'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, idempotencyHeader, type Schemas, unwrap } from '../../api/client'
import { useAct } from '../../lib/act'
import { errorText } from '../../lib/notify'
import { clean, type Config, isWhole, newVariant, places, type Variant, withPaths } from './config'
import { Outcome } from './Outcome'
import { PathField } from './PathField'

interface Props {
  domain: string
  config: Config
  /** The version on which the edit is based; 0: none. */
  from: number
  pages: { value: string; label: string }[]
  page: string
  setPage: (id: string) => void
  saved: (made: Schemas['Selectors']) => void
}

/** Edits selectors, next to the extraction result of a page. */
export function Editor({ domain, config: first, from, pages, page, setPage, saved }: Props) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [config, setConfig] = useState(first)
  const [note, setNote] = useState('')
  const [activate, setActivate] = useState(true)
  const wanted = clean(config)
  const [tried] = useDebouncedValue(wanted, 400)
  const whole = isWhole(wanted)
  const look = useQuery({
    queryKey: ['selectors-look', domain, page, tried],
    enabled: isWhole(tried),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 10_000,
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.POST('/api/v1/domains/{domain}/selectors/preview', {
            params: { path: { domain } },
            body: { config: tried, articles: [page] },
            signal,
          }),
        )
      ).pages[0],
  })
  const keep = useAct({
    send: () =>
      unwrap(
        api.POST('/api/v1/domains/{domain}/selectors', {
          params: { path: { domain }, header: idempotencyHeader() },
          body: { config: wanted, activate, ...(note.trim() ? { note: note.trim() } : {}) },
        }),
      ),
    accepted: (made) => {
      saved(made)
    },
    settled: () => {
      void client.invalidateQueries({ queryKey: ['selectors', domain] })
      void client.invalidateQueries({ queryKey: ['reading', domain] })
    },
    done: (made) => t(made.state === 'active' ? 'selectors.inUse' : 'selectors.isSaved', { version: made.version }),
    failed: false,
  })
  const change = (i: number, update: (v: Variant) => Variant) =>
    setConfig((c) => ({ variants: c.variants.map((v, j) => (j === i ? update(v) : v)) }))
  return (
    <Stack component="section" aria-label={t('selectors.edit')}>
      <Title order={2} size="h4">
        {from > 0 ? t('selectors.editFrom', { version: from }) : t('selectors.editNew')}
      </Title>
      <Select
        label={t('selectors.page')}
        description={t('selectors.pageText')}
        searchable
        allowDeselect={false}
        maxDropdownHeight={320}
        nothingFoundMessage={t('state.nothing')}
        data={pages}
        value={page}
        onChange={(v) => v && setPage(v)}
      />
      {look.error && whole && (
        <Alert color="red" role="alert">
          {errorText(look.error)}
        </Alert>
      )}
      {!whole && (
        <Alert color="yellow" role="status">
          {t('selectors.noBody')}
        </Alert>
      )}
      {config.variants.map((v, i) => (
        <Fieldset key={i} legend={t('selectors.template', { number: i + 1 })} className="dl-card" data-variant={v.name}>
          <Stack gap="sm">
            <Group align="flex-end" gap="xs" wrap="nowrap">
              <TextInput
                flex={1}
                label={t('selectors.name')}
                maxLength={100}
                value={v.name}
                onChange={(e) => {
                  const name = e.currentTarget.value
                  change(i, (was) => ({ ...was, name }))
                }}
              />
              {config.variants.length > 1 && (
                <ActionIcon
                  variant="subtle"
                  color="red"
                  size="lg"
                  aria-label={t('selectors.removeTemplate', { number: i + 1 })}
                  onClick={() => setConfig((c) => ({ variants: c.variants.filter((_, j) => j !== i) }))}
                >
                  <IconTrash size={18} aria-hidden />
                </ActionIcon>
              )}
            </Group>
            <Checkbox
              label={t('selectors.genericBody')}
              checked={v.generic_body ?? false}
              onChange={(e) => {
                const generic_body = e.currentTarget.checked
                change(i, (was) => ({ ...was, generic_body }))
              }}
            />
            {places.map((place) => (
              <PathField
                key={place}
                place={place}
                variant={v}
                taken={look.data?.paths.filter((p) => p.variant === v.name.trim() && p.field === place) ?? []}
                change={(paths) => change(i, (was) => withPaths(was, place, paths))}
              />
            ))}
          </Stack>
        </Fieldset>
      ))}
      {config.variants.length < 8 && (
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={() =>
            setConfig((c) => ({ variants: [...c.variants, newVariant(`template ${c.variants.length + 1}`)] }))
          }
          style={{ alignSelf: 'flex-start' }}
        >
          {t('selectors.addTemplate')}
        </Button>
      )}
      {look.data && <Outcome page={look.data} />}
      <Stack gap="sm" className="dl-card" p="md" component="section" aria-label={t('selectors.save')}>
        <TextInput
          label={t('selectors.note')}
          maxLength={500}
          value={note}
          onChange={(e) => setNote(e.currentTarget.value)}
        />
        <Checkbox
          label={t('selectors.activate')}
          description={t('selectors.activateText')}
          checked={activate}
          onChange={(e) => setActivate(e.currentTarget.checked)}
        />
        {keep.error && (
          <Alert color="red" role="alert">
            {errorText(keep.error)}
          </Alert>
        )}
        <Group gap="xs">
          <Button
            leftSection={<IconDeviceFloppy size={18} aria-hidden />}
            disabled={!whole}
            loading={keep.isPending}
            onClick={() => keep.mutate()}
          >
            {t('selectors.save')}
          </Button>
          <Text size="sm" c="dimmed">
            {t('selectors.watched')}
          </Text>
        </Group>
      </Stack>
    </Stack>
  )
}

import {
  ActionIcon,
  Alert,
  Button,
  Checkbox,
  Code,
  Group,
  PasswordInput,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Copy } from '../../components/Copy'
import { DayField } from '../../components/DayField'
import { Failed } from '../../components/states'
import { useAct } from '../../lib/act'
import { errorText } from '../../lib/notify'
import { formatTime } from '../../lib/time'
import { forget, useFormState } from '../../lib/formState'
import { FormDialog } from '../../components/FormDialog'

/** Manages the links that show a site's report to people without a login. */
export function Share({ site, filter, close }: { site: Schemas['Site']; filter?: string[]; close: () => void }) {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const queryKey = ['shared-links', site.id]
  const path = { id: site.id }
  const links = useQuery({
    queryKey,
    queryFn: async () => (await unwrap(api.GET('/api/v1/sites/{id}/shared-links', { params: { path } }))).shared_links,
  })
  const form = `share ${site.id}`
  const [name, setName] = useFormState(form, 'name', '')
  const [password, setPassword] = useFormState(form, 'password', '', { secret: true })
  const [expires, setExpires] = useFormState(form, 'expires', '')
  const [origins, setOrigins] = useFormState<string[]>(form, 'origins', [])
  const [filtered, setFiltered] = useFormState(form, 'filtered', filter !== undefined)
  const settled = () => void client.invalidateQueries({ queryKey })
  const make = useAct({
    send: () =>
      unwrap(
        api.POST('/api/v1/sites/{id}/shared-links', {
          params: { path },
          body: {
            name,
            password: password || undefined,
            embed_origins: origins,
            filters: filtered ? filter : undefined,
            // Until the end of the day, in the time zone of the person who shares it.
            expires_at: expires ? new Date(`${expires}T23:59:59`).toISOString() : undefined,
          },
        }),
      ),
    accepted: () => forget(form),
    settled,
    done: () => undefined,
    failed: false,
  })
  const revoke = useAct({
    send: (link: string) =>
      unwrap(api.DELETE('/api/v1/sites/{id}/shared-links/{link}', { params: { path: { ...path, link } } })),
    settled,
    done: () => t('act.revoked'),
  })
  const url = make.data?.url
  return (
    <FormDialog form={form} opened onClose={close} size="lg" title={t('share.title')}>
      <Stack>
        <Text size="sm" c="dimmed">
          {t('share.text')}
        </Text>
        {url && (
          <Alert color="green" title={t('share.made', { name: make.data?.name })} role="status">
            <Text size="sm" mb="xs">
              {t('share.once')}
            </Text>
            <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
              {url}
            </Code>
            <Copy value={url} mt="xs" />
          </Alert>
        )}
        <form
          onSubmit={(e) => {
            e.preventDefault()
            make.mutate()
          }}
        >
          <Stack gap="sm">
            <TextInput
              label={t('share.name')}
              required
              maxLength={100}
              value={name}
              onChange={(e) => setName(e.currentTarget.value)}
              data-autofocus
            />
            <PasswordInput
              label={t('share.password')}
              description={t('share.passwordText')}
              autoComplete="new-password"
              minLength={8}
              maxLength={72}
              value={password}
              onChange={(e) => setPassword(e.currentTarget.value)}
              disabled={origins.length > 0}
            />
            <DayField
              label={t('share.expires')}
              description={t('share.expiresText')}
              value={expires}
              onChange={setExpires}
            />
            <TagsInput
              label={t('share.origins')}
              description={t('share.originsText')}
              placeholder="https://news.example"
              value={origins}
              onChange={setOrigins}
              disabled={password !== ''}
            />
            {filter && (
              <Checkbox
                label={t('share.filter', { filter: filter.join(', ') })}
                checked={filtered}
                onChange={(e) => setFiltered(e.currentTarget.checked)}
              />
            )}
            {make.error && (
              <Alert color="red" role="alert">
                {errorText(make.error)}
              </Alert>
            )}
            <Button type="submit" loading={make.isPending} disabled={name.trim() === ''}>
              {t('share.create')}
            </Button>
          </Stack>
        </form>
        {links.error ? (
          <Failed error={links.error} retry={() => void links.refetch()} />
        ) : (
          links.data?.map((l) => (
            <Group
              key={l.id}
              justify="space-between"
              wrap="nowrap"
              className="dl-card"
              p="sm"
              data-shared-link={l.name}
            >
              <div>
                <Text fw={600}>{l.name}</Text>
                <Text size="sm" c="dimmed">
                  {[
                    l.filters.join(', '),
                    l.has_password && t('share.locked'),
                    l.embed_origins.length > 0 && l.embed_origins.join(', '),
                    l.expires_at &&
                      t('share.until', {
                        time: formatTime(l.expires_at, i18n.language, site.time_zone, 'short'),
                      }),
                  ]
                    .filter(Boolean)
                    .join(' · ')}
                </Text>
              </div>
              <ActionIcon
                variant="subtle"
                color="red"
                aria-label={t('share.revoke', { name: l.name })}
                loading={revoke.isPending && revoke.variables === l.id}
                onClick={() => revoke.mutate(l.id)}
              >
                <IconTrash size={18} aria-hidden />
              </ActionIcon>
            </Group>
          ))
        )}
      </Stack>
    </FormDialog>
  )
}

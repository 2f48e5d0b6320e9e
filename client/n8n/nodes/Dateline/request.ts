import type { IDataObject, IExecuteFunctions, IHookFunctions, IHttpRequestMethods, IHttpRequestOptions, ILoadOptionsFunctions, INodePropertyOptions, JsonObject } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

type Context = IExecuteFunctions | IHookFunctions | ILoadOptionsFunctions;

/** Sends a request to the API. Problem documents become errors of the node. */
export async function request<T = IDataObject>(
	context: Context,
	method: IHttpRequestMethods,
	path: string,
	options: Partial<IHttpRequestOptions> = {},
): Promise<T> {
	const { url } = await context.getCredentials<{ url: string }>('datelineApi');
	try {
		return (await context.helpers.httpRequestWithAuthentication.call(context, 'datelineApi', {
			method,
			url: url.replace(/\/+$/, '') + '/api/v1' + path,
			json: true,
			...options,
		})) as T;
	} catch (error) {
		const detail = (error as { response?: { data?: { detail?: string; title?: string } } }).response?.data;
		throw new NodeApiError(context.getNode(), error as JsonObject, detail ? { message: detail.detail ?? detail.title } : {});
	}
}

/** The pages of a list, up to a limit. */
export async function list(context: Context, path: string, field: string, query: IDataObject, limit: number): Promise<IDataObject[]> {
	const rows: IDataObject[] = [];
	let cursor: string | undefined;
	do {
		const page: IDataObject = await request(context, 'GET', path, {
			qs: { ...query, limit: Math.min(limit - rows.length, 100), ...(cursor ? { cursor } : {}) },
		});
		rows.push(...(page[field] as IDataObject[]));
		cursor = page.next_cursor as string | undefined;
	} while (cursor && rows.length < limit);
	return rows.slice(0, limit);
}

type Named = { id: string; name?: string; handle?: string; network?: string };

/** The accounts of the workspace, to choose from. */
export async function accounts(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const found = await request<{ accounts: Named[] }>(this, 'GET', '/accounts');
	return found.accounts.map((a) => ({ name: `${a.handle ?? a.id} (${a.network})`, value: a.id }));
}

/** The sites of the workspace, to choose from. */
export async function sites(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const found = await request<{ sites: Named[] }>(this, 'GET', '/sites');
	return found.sites.map((s) => ({ name: s.name ?? s.id, value: s.id }));
}

// The explorer shows the OpenAPI document of the service that it came from and
// tries its operations out. What it shows is text from strangers: it is only
// ever made into text nodes, and the page's policy lets nothing else run.
'use strict';

(() => {
  const byId = (id) => document.getElementById(id);

  // The page is ROOT/api/v1/docs; a proxy may have put something in front.
  const root = location.pathname.replace(/\/api\/v1\/docs\/?$/, '');
  const documentPath = root + '/api/v1/openapi.json';

  // longest bounds what is shown of an answer, in characters.
  const longest = 300000;
  // deepest bounds the nesting of a schema that is shown.
  const deepest = 8;

  let spec = null;

  // ---- building the page ----

  // make builds an element. Attributes are set as attributes, children that are
  // not elements become text.
  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value);
    }
    for (const child of children.flat(Infinity)) {
      if (child !== undefined && child !== null) element.append(child instanceof Node ? child : String(child));
    }
    return element;
  }

  // prose makes paragraphs of a description, with `code` and **strong** words.
  function prose(text) {
    return String(text || '').split(/\n\s*\n/).filter((part) => part.trim()).map((part) => make('p', {}, words(part)));
  }

  function words(text) {
    return text.split(/(`[^`]*`|\*\*[^*]*\*\*)/).filter(Boolean).map((piece) => {
      if (piece.startsWith('`') && piece.endsWith('`') && piece.length > 1) return make('code', {}, piece.slice(1, -1));
      if (piece.startsWith('**')) return make('strong', {}, piece.slice(2, -2));
      return document.createTextNode(piece);
    });
  }

  // ---- reading the document ----

  // resolve follows a $ref to its place in the document. What stands beside the
  // $ref, such as a description, counts more than what stands there.
  function resolve(value) {
    for (let hops = 0; value && value.$ref && hops < 10; hops++) {
      const { $ref, ...own } = value;
      const target = $ref.slice(2).split('/').reduce((at, key) => at && at[key.replace(/~1/g, '/').replace(/~0/g, '~')], spec);
      value = { ...target, ...own };
    }
    return value || {};
  }

  // flat joins a schema with those in its allOf.
  function flat(schema) {
    schema = resolve(schema);
    if (!schema.allOf) return schema;
    const joined = { ...schema, properties: {}, required: [] };
    for (const part of [...schema.allOf.map(flat), { ...schema, allOf: undefined }]) {
      Object.assign(joined.properties, part.properties);
      joined.required.push(...(part.required || []));
      joined.type = joined.type || part.type;
    }
    return joined;
  }

  function nameOf(schema) {
    const ref = schema && schema.$ref;
    return ref ? ref.slice(ref.lastIndexOf('/') + 1) : '';
  }

  function typeOf(schema) {
    const s = flat(schema);
    if ('const' in s) return JSON.stringify(s.const);
    if (s.enum && s.enum.length <= 12) return s.enum.map((value) => JSON.stringify(value)).join(' | ');
    const options = s.anyOf || s.oneOf;
    if (options) return options.map(typeOf).join(' or ');
    const types = [].concat(s.type || 'anything');
    return types.map((type) => (type === 'array' && s.items ? 'array of ' + (nameOf(s.items) || typeOf(s.items)) : type)).join(' or ');
  }

  // sample is a value of the schema for a person to begin with: its example, or
  // one made of what it needs.
  function sample(schema, depth = 0) {
    const s = flat(schema);
    if (s.examples && s.examples.length) return s.examples[0];
    if ('default' in s) return s.default;
    if ('const' in s) return s.const;
    if (s.enum) return s.enum[0];
    if (s.anyOf || s.oneOf) return sample((s.anyOf || s.oneOf)[0], depth);
    const type = [].concat(s.type || 'object')[0];
    if (type === 'array') return s.items && depth < deepest ? [sample(s.items, depth + 1)] : [];
    if (type === 'object') {
      const value = {};
      for (const name of depth < deepest ? s.required || [] : []) value[name] = sample((s.properties || {})[name], depth + 1);
      return value;
    }
    return { string: '', integer: 0, number: 0, boolean: false }[type] ?? null;
  }

  // ---- showing schemas and answers ----

  function bounds(s) {
    const said = { minimum: '≥', maximum: '≤', minLength: 'length ≥', maxLength: 'length ≤', maxItems: 'at most', pattern: 'like', 'x-errata-pattern': 'like', default: 'default' };
    return Object.entries(said).filter(([key]) => key in s).map(([key, text]) => text + ' ' + s[key]).join(', ');
  }

  // tree shows the members of a schema, and theirs.
  function tree(schema, depth = 0) {
    const s = flat(schema);
    const inner = s.items ? flat(s.items) : s;
    const list = make('ul', { class: 'schema' });
    if (depth > deepest) return list;
    for (const [name, member] of Object.entries(inner.properties || {})) {
      const m = flat(member);
      const needed = (inner.required || []).includes(name);
      const item = make('li', {}, make('code', {}, name), ' ', make('small', {}, typeOf(member)),
        needed ? make('span', { class: 'need', title: 'always there' }, ' *') : null,
        bounds(m) ? make('small', {}, ' ' + bounds(m)) : null,
        m.description ? [' ', ...words(m.description)] : null);
      if (m.properties || (m.items && flat(m.items).properties)) item.append(tree(member, depth + 1));
      list.append(item);
    }
    return list;
  }

  function showContent(content) {
    return Object.entries(content || {}).map(([type, media]) => {
      if (!media.schema) return make('p', {}, make('code', {}, type));
      return make('div', {}, make('p', {}, make('code', {}, type), ' ', make('small', {}, nameOf(media.schema) || typeOf(media.schema))), tree(media.schema));
    });
  }

  function showAnswers(operation) {
    const parts = [make('h3', {}, 'Answers')];
    for (const [status, reference] of Object.entries(operation.responses || {})) {
      const response = resolve(reference);
      const line = make('summary', {}, make('strong', { class: status < '400' ? 'get' : 'bad' }, status), make('span', {}, words(response.description || '')));
      const headers = Object.keys(response.headers || {});
      parts.push(make('details', {}, line,
        headers.length ? make('p', {}, 'Headers: ', make('code', {}, headers.join(', '))) : null,
        make('div', {}, showContent(response.content))));
    }
    const codes = operation['x-errata-codes'] || [];
    if (codes.length) parts.push(make('p', { class: 'quiet' }, 'Codes: ', make('code', {}, codes.join(', '))));
    return parts;
  }

  function showParameters(parameters) {
    if (!parameters.length) return [];
    const list = make('ul', { class: 'schema' });
    for (const p of parameters) {
      list.append(make('li', {}, make('code', {}, p.name), ' ', make('small', {}, 'in ' + p.in + ', ' + typeOf(p.schema || {})),
        p.required ? make('span', { class: 'need' }, ' *') : null,
        bounds(resolve(p.schema)) ? make('small', {}, ' ' + bounds(resolve(p.schema))) : null, ' ', words(p.description || '')));
    }
    return [make('h3', {}, 'Parameters'), list];
  }

  // ---- trying out ----

  const keyField = byId('key');

  // The key is in the field and in the session's storage, which ends with the
  // tab. A browser may refuse the storage; then it is in the field only.
  function keepKey(key) {
    try {
      if (key) sessionStorage.setItem('errata-key', key); else sessionStorage.removeItem('errata-key');
    } catch { /* the field still has it */ }
  }

  function keptKey() {
    try { return sessionStorage.getItem('errata-key') || ''; } catch { return ''; }
  }

  function field(p) {
    const schema = resolve(p.schema);
    let input;
    if (schema.enum) {
      input = make('select', {}, make('option', { value: '' }, p.required ? 'choose' : 'not sent'), schema.enum.map((value) => make('option', { value }, value)));
    } else {
      input = make('input', { type: 'text', spellcheck: 'false', placeholder: p.example !== undefined ? 'such as ' + p.example : '', required: p.required });
    }
    return { parameter: p, input, label: make('label', {}, p.name + (p.required ? ' *' : ''), input) };
  }

  // request joins what was entered: address, headers and body.
  function request(path, method, fields, bodyField, typeField) {
    const query = new URLSearchParams();
    const headers = {};
    for (const { parameter, input } of fields) {
      const value = input.value;
      if (parameter.in === 'path') path = path.replace('{' + parameter.name + '}', encodeURIComponent(value));
      else if (value === '') continue;
      else if (parameter.in === 'query') query.append(parameter.name, value);
      else if (parameter.in === 'header') headers[parameter.name] = value;
    }
    const options = { method, headers, credentials: 'omit', cache: 'no-store', redirect: 'error', referrerPolicy: 'no-referrer' };
    if (bodyField && bodyField.value.trim() !== '') {
      options.body = bodyField.value;
      headers['Content-Type'] = typeField.value;
    }
    const asked = query.toString();
    return { url: root + path + (asked ? '?' + asked : ''), options };
  }

  // quote makes a text one word of a shell.
  function quote(text) { return "'" + String(text).replace(/'/g, "'\\''") + "'"; }

  // command is the request for a terminal, without the key.
  function command({ url, options }) {
    const parts = ['curl -sS', '-X ' + options.method, quote(location.origin + url)];
    for (const [name, value] of Object.entries(options.headers)) parts.push('-H ' + quote(name + ': ' + value));
    if (keyField.value) parts.push('-H "Authorization: Bearer $ERRATA_KEY"');
    if (options.body) parts.push('--data-binary ' + quote(options.body));
    return parts.join(' \\\n  ');
  }

  function pretty(text, type) {
    if (/json/.test(type || '')) {
      // Numbers beyond 2^53 would change if they were read and written again.
      try { if (!/[0-9]{16}/.test(text)) text = JSON.stringify(JSON.parse(text), null, 2); } catch { /* shown as it came */ }
    }
    return text.length > longest ? text.slice(0, longest) + '\n… ' + (text.length - longest) + ' characters more' : text;
  }

  async function send(wanted, result) {
    const asked = command(wanted);
    const options = { ...wanted.options, headers: { ...wanted.options.headers } };
    if (keyField.value) options.headers.Authorization = 'Bearer ' + keyField.value.trim();
    const begun = performance.now();
    try {
      const response = await fetch(wanted.url, options);
      const text = await response.text();
      const took = Math.round(performance.now() - begun);
      const headers = [...response.headers].map(([name, value]) => name + ': ' + value).join('\n');
      result.replaceChildren(
        make('h3', { class: response.ok ? 'get' : 'bad' }, response.status + ' ' + response.statusText + ', ' + took + ' ms'),
        make('pre', {}, pretty(text, response.headers.get('Content-Type')) || '(no body)'),
        make('details', {}, make('summary', {}, 'Headers'), make('pre', {}, headers)),
        make('details', {}, make('summary', {}, 'As a command'), make('pre', {}, asked)));
    } catch (error) {
      result.replaceChildren(make('p', { class: 'bad' }, 'No answer: ' + error.message));
    }
  }

  function bodyFields(operation) {
    const body = resolve(operation.requestBody);
    const types = Object.keys(body.content || {});
    if (!types.length) return [];
    const typeField = make('select', {}, types.map((type) => make('option', { value: type }, type)));
    const bodyField = make('textarea', { spellcheck: 'false' });
    const fill = () => {
      const schema = (body.content[typeField.value] || {}).schema;
      bodyField.value = schema && (body.required || flat(schema).examples) ? JSON.stringify(sample(schema), null, 2) : '';
    };
    typeField.addEventListener('change', fill);
    fill();
    return [bodyField, typeField];
  }

  function tryOut(path, method, operation, parameters) {
    const fields = parameters.map(field);
    const [bodyField, typeField] = bodyFields(operation);
    const result = make('div', { 'aria-live': 'polite' });
    const button = make('button', { type: 'submit' }, 'Send');
    const form = make('form', { autocomplete: 'off' }, make('h3', {}, 'Try it'),
      make('div', { class: 'fields' }, fields.map((f) => f.label)),
      bodyField ? [make('label', {}, 'Body', bodyField), make('label', {}, 'Content type', typeField)] : null,
      make('p', {}, button));
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      if (method !== 'GET' && !window.confirm(method + ' ' + path + ' changes what this service keeps. Send it?')) return;
      button.disabled = true;
      await send(request(path, method, fields, bodyField, typeField), result);
      button.disabled = false;
    });
    return [form, result];
  }

  // ---- the list of operations ----

  function access(operation) {
    const security = operation.security || spec.security || [];
    if (!security.length) return 'open, no key';
    return (operation['x-errata-scope'] || 'a key') + (security.some((one) => !Object.keys(one).length) ? ', may go without' : '');
  }

  function showOperation(path, method, operation) {
    const parameters = (operation.parameters || []).map(resolve);
    const details = make('details', { id: operation.operationId },
      make('summary', {}, make('span', { class: 'method ' + method }, method.toUpperCase()), make('span', { class: 'path' }, path),
        make('span', { class: 'quiet' }, operation.summary || '')));
    details.dataset.find = [method, path, operation.summary, operation.operationId, operation['x-errata-scope']].join(' ').toLowerCase();
    // Most are never opened: their insides are built when they are.
    details.addEventListener('toggle', () => {
      if (!details.open || details.children.length > 1) return;
      const body = resolve(operation.requestBody);
      details.append(make('div', {},
        prose(operation.description), make('p', { class: 'quiet' }, 'Needs: ' + access(operation)),
        showParameters(parameters),
        body.content ? [make('h3', {}, 'Body' + (body.required ? '' : ', may be left out')), showContent(body.content)] : null,
        showAnswers(operation), tryOut(path, method.toUpperCase(), operation, parameters)));
    });
    return details;
  }

  const methods = ['get', 'post', 'put', 'delete'];

  function showAll() {
    byId('version').textContent = 'API version ' + spec.info.version;
    byId('description').replaceChildren(...prose(spec.info.description));
    const sections = new Map((spec.tags || []).map((tag) => [tag.name, make('section', {}, make('h2', {}, tag.name), prose(tag.description))]));
    for (const [path, item] of Object.entries(spec.paths)) {
      for (const method of methods.filter((name) => item[name])) {
        const tag = (item[method].tags || ['Other'])[0];
        if (!sections.has(tag)) sections.set(tag, make('section', {}, make('h2', {}, tag)));
        sections.get(tag).append(showOperation(path, method, item[method]));
      }
    }
    byId('operations').replaceChildren(...sections.values());
  }

  // narrow shows the operations that have all words of the search.
  function narrow() {
    const wanted = byId('find').value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const section of byId('operations').querySelectorAll('section')) {
      let any = false;
      for (const details of section.querySelectorAll(':scope > details')) {
        details.hidden = !wanted.every((word) => details.dataset.find.includes(word));
        any = any || !details.hidden;
      }
      section.hidden = !any;
    }
  }

  // open shows the operation that the address names, as in docs#listErrors.
  function open() {
    const details = location.hash && byId(decodeURIComponent(location.hash.slice(1)));
    if (!details || details.tagName !== 'DETAILS') return;
    details.open = true;
    details.scrollIntoView();
  }

  async function start() {
    keyField.value = keptKey();
    keyField.addEventListener('input', () => keepKey(keyField.value));
    byId('forget').addEventListener('click', () => { keyField.value = ''; keepKey(''); });
    byId('find').addEventListener('input', narrow);
    byId('bar').addEventListener('submit', (event) => event.preventDefault());
    window.addEventListener('hashchange', open);
    try {
      const response = await fetch(documentPath, { credentials: 'omit' });
      if (!response.ok) throw new Error('the service answered ' + response.status);
      spec = await response.json();
      showAll();
      open();
    } catch (error) {
      byId('state').textContent = 'The document cannot be shown: ' + error.message + '. Reload the page to try again.';
    }
  }

  start();
})();

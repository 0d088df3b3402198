import type pg from "pg";
import { adminRole, database, type Passwords, serviceRole } from "./address.ts";

/** If several processes start at once, one sets up the roles. The lock belongs to the connection. */
const setupLock = 7205114304;

export async function settingUpAlone(admin: pg.Client, work: () => Promise<void>): Promise<void> {
  await admin.query("select pg_advisory_lock($1)", [setupLock]);
  try {
    await work();
  } finally {
    await admin.query("select pg_advisory_unlock($1)", [setupLock]).catch(() => {});
  }
}

export async function isStandby(admin: pg.Client): Promise<boolean> {
  const { rows } = await admin.query("select pg_is_in_recovery() as standby");
  return rows[0]?.standby === true;
}

/**
 * Creates the service's role and our database if they are missing, and sets both passwords unless they stay.
 */
export async function setUpRoles(admin: pg.Client, passwords: Passwords | null): Promise<void> {
  const role = await admin.query("select from pg_roles where rolname = $1", [serviceRole]);
  if (role.rowCount === 0 || passwords !== null) {
    await admin.query(`
      ${role.rowCount === 0 ? `create role ${serviceRole} login;` : ""}
      -- It sees what other sessions do, and removes the write-ahead log when it cleans.
      grant pg_monitor, pg_checkpoint to ${serviceRole};
      ${passwords === null ? "" : `alter role ${serviceRole} password '${passwords.service}';`}
      ${passwords === null ? "" : `alter role ${adminRole} password '${passwords.admin}';`}`);
  }
  const found = await admin.query("select from pg_database where datname = $1", [database]);
  if (found.rowCount === 0) await admin.query(`create database ${database} owner ${serviceRole}`);
}

/**
 * Gives our database and its objects to the service's role. Earlier releases created everything as the
 * superuser, and may do so again after a downgrade. `reassign owned` refuses the bootstrap superuser, so
 * objects are reassigned one by one.
 */
export async function handOverDatabase(inside: pg.Client): Promise<void> {
  await inside.query(`
    set lock_timeout = '5s';
    do $$
    declare
      service oid := '${serviceRole}'::regrole;
      statement text;
    begin
      for statement in
        with ours as (select oid from pg_namespace where nspname <> 'information_schema' and nspname !~ '^pg_'),
        extended as (select classid, objid from pg_depend where deptype = 'e'),
        -- A sequence that belongs to a column changes hands with its table.
        owned as (
          select objid from pg_depend
          where classid = 'pg_class'::regclass and refclassid = 'pg_class'::regclass and deptype in ('a', 'i')
        )
        select format('database %I', datname) from pg_database
        where datname = current_database() and datdba <> service
        union all
        select format('schema %I', nspname) from pg_namespace n join ours using (oid)
        where nspowner = '${adminRole}'::regrole
        union all
        select format('table %s', oid::regclass) from pg_class c
        where relnamespace in (table ours) and relkind in ('r', 'p', 'v', 'm', 'f', 'S') and relowner <> service
          and (relkind <> 'S' or oid not in (table owned))
          and ('pg_class'::regclass, oid) not in (table extended)
        union all
        select format('routine %s', oid::regprocedure) from pg_proc
        where pronamespace in (table ours) and proowner <> service
          and ('pg_proc'::regclass, oid) not in (table extended)
        union all
        select format('type %s', oid::regtype) from pg_type
        where typnamespace in (table ours) and typtype in ('d', 'e', 'r') and typowner <> service
          and ('pg_type'::regclass, oid) not in (table extended)
        union all
        select format('collation %s', oid::regcollation) from pg_collation
        where collnamespace in (table ours) and collowner <> service
          and ('pg_collation'::regclass, oid) not in (table extended)
      loop
        execute 'alter ' || statement || ' owner to ${serviceRole}';
      end loop;
      if not has_function_privilege(service, 'pg_switch_wal()', 'execute') then
        grant execute on function pg_switch_wal() to ${serviceRole};
      end if;
    end
    $$`);
}

/** The file in which the server reads who may connect. */
export async function accessFileOf(admin: pg.Client): Promise<string> {
  const { rows } = await admin.query("select current_setting('hba_file') as file");
  return String(rows[0]?.file);
}

/** When the server last read its settings and access rules. */
export async function readAt(admin: pg.Client): Promise<string> {
  const { rows } = await admin.query("select pg_conf_load_time()::text as at");
  return String(rows[0]?.at);
}

/** Asks the server to reload its settings, which takes a moment. */
export async function rereadAccess(admin: pg.Client): Promise<void> {
  await admin.query("select pg_reload_conf()");
}

/* Stopping Lua code with Ctrl-C. LuaJIT's profiler interrupts a state at regular ticks, also in compiled code. A tick
 * installs a hook, and the hook lets Python handle its signals. If that raises an exception, or if a callback has
 * raised SystemExit or KeyboardInterrupt, the exception is raised at every Lua instruction until Python has it back, so
 * that no pcall can swallow it.
 *
 * LuaJIT runs no hooks during a finalizer. The byte in which it stores that is found by br_find_hook_mask, so that a
 * tick can change it. While a state is being closed its ticks come from our own timer, because LuaJIT has stopped its
 * profiler. */
#ifndef BRIDGE_INTERRUPT_H
#define BRIDGE_INTERRUPT_H

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include "trampoline.h"

#define BR_STATE "bridge.state"
enum { BR_TICK = 100 }; /* milliseconds of processor time between two ticks */
#define BR_EVERY (LUA_MASKCOUNT | LUA_MASKLINE) /* no hook at calls: the message handler itself is a call */

/* Pushes the exception to raise on L's stack and returns the state's main thread; NULL: no exception. Needs the GIL. */
static lua_State *(*br_exception_to_raise)(lua_State *L, void *state);

static int br_in_finalizer(lua_State *main);
static void br_allow_hooks(lua_State *main);
static void br_tick_every(int milliseconds);

/* The program's own debug hook, put back after ours. One state per process has ticks. */
static struct { lua_Hook hook; int mask, count; } br_kept_hook;

static void br_hook(lua_State *L, lua_Debug *ar)
{
   (void)ar;
   lua.lua_sethook(L, br_kept_hook.hook, br_kept_hook.mask, br_kept_hook.count);
   lua.lua_getfield(L, LUA_REGISTRYINDEX, BR_STATE);
   void *state = br_to_address(L, -1);
   lua_pop(L, 1);
   PyGILState_STATE gil = PyGILState_Ensure();
   lua_State *main = br_exception_to_raise(L, state);
   PyGILState_Release(gil);
   if (main) {
      lua.lua_sethook(L, br_hook, BR_EVERY, 1);
      if (br_in_finalizer(main)) {
         br_allow_hooks(main);  /* for the rest of this finalizer: a pcall in it does not change that */
         br_tick_every(1);      /* the next finalizer disables hooks again: tick soon */
      }
      lua.lua_error(L);
   }
}

static void br_hook_now(lua_State *L)
{
   lua_Hook hook = lua.lua_gethook(L);
   if (hook != br_hook) {
      br_kept_hook.hook = hook;
      br_kept_hook.mask = hook ? lua.lua_gethookmask(L) : 0;
      br_kept_hook.count = hook ? lua.lua_gethookcount(L) : 0;
   }
   lua.lua_sethook(L, br_hook, BR_EVERY, 1);
}

static void br_unhook(lua_State *L)
{
   br_tick_every(BR_TICK);
   if (lua.lua_gethook(L) == br_hook)
      lua.lua_sethook(L, br_kept_hook.hook, br_kept_hook.mask, br_kept_hook.count);
}

/* ---- hooks in finalizers */

/* Bits of LuaJIT's hook mask: no hooks are called; a finalizer runs; a tick has come, which compiled code checks. */
enum { BR_HOOK_ACTIVE = 0x10, BR_HOOK_GC = 0x40, BR_HOOK_PROFILE = 0x80 };

static int br_hook_mask_place; /* bytes from a main lua_State to its hook mask; 0: not known */

static void br_no_hook(lua_State *L, lua_Debug *ar)
{
   (void)L;
   (void)ar;
}

static int br_note_mask(lua_State *L)
{
   unsigned char **seen = (unsigned char **)lua.lua_touserdata(L, 1);
   *seen[0] = *seen[1];
   return 0;
}

/* The byte at `place` while a finalizer runs. */
static unsigned char br_mask_in_finalizer(lua_State *L, unsigned char *place)
{
   unsigned char found = 0;
   unsigned char **seen = (unsigned char **)lua.lua_newuserdata(L, 2 * sizeof *seen);
   seen[0] = &found;
   seen[1] = place;
   lua.lua_createtable(L, 0, 1);
   lua.lua_pushcclosure(L, br_note_mask, 0);
   lua.lua_setfield(L, -2, "__gc");
   lua.lua_setmetatable(L, -2);
   lua_pop(L, 1);
   lua.lua_gc(L, LUA_GCCOLLECT, 0);
   return found;
}

/* LuaJIT's global state follows the main thread in memory. The hook mask is the one byte there that equals every mask
 * we set, and that has the bits ACTIVE and GC while a finalizer runs. `L` is a new state's main thread. */
static void br_find_hook_mask(lua_State *L)
{
   static const unsigned char masks[] = {LUA_MASKLINE, LUA_MASKCOUNT, LUA_MASKLINE | LUA_MASKCOUNT, LUA_MASKCALL, 0};
   unsigned char *memory = (unsigned char *)L, *found = NULL;
   unsigned char fits[2048];
   memset(fits, 1, sizeof fits);
   for (size_t i = 0; i < sizeof masks; i++) {
      lua.lua_sethook(L, br_no_hook, masks[i], 1 << 20);
      for (size_t at = 0; at < sizeof fits; at++) fits[at] &= memory[at] == masks[i];
   }
   for (size_t at = 1; at < sizeof fits; at++) {
      if (!fits[at]) continue;
      if (found) return;
      found = memory + at;
   }
   if (found && (br_mask_in_finalizer(L, found) & (BR_HOOK_ACTIVE | BR_HOOK_GC)) == (BR_HOOK_ACTIVE | BR_HOOK_GC))
      br_hook_mask_place = (int)(found - memory);
}

static volatile unsigned char *br_mask_in(lua_State *main) { return (unsigned char *)main + br_hook_mask_place; }

static int br_in_finalizer(lua_State *main) { return br_hook_mask_place && *br_mask_in(main) & BR_HOOK_GC; }

/* If a finalizer runs, let hooks run in the rest of it. */
static void br_allow_hooks(lua_State *main)
{
   if (br_in_finalizer(main)) *br_mask_in(main) &= (unsigned char)~BR_HOOK_ACTIVE;
}

/* ---- ticks: SIGPROF, whose handler in LuaJIT makes compiled code return to the interpreter */

static lua_State *volatile br_closing; /* the state being closed with ticks; NULL once its last finalizer has run */

static struct {
   lua_State *L;
   pthread_t thread;          /* the main thread, the only one that handles Python's signals */
   struct sigaction profiler; /* LuaJIT's handler */
} br_ticking;

/* Change the time between the ticks of the state that has them. */
static void br_tick_every(int milliseconds)
{
   struct itimerval every = {{0, milliseconds * 1000}, {0, milliseconds * 1000}};
   struct itimerval now;
   if (!br_ticking.L && !br_closing) return;
   getitimer(ITIMER_PROF, &now);
   if (now.it_interval.tv_usec != every.it_interval.tv_usec) setitimer(ITIMER_PROF, &every, NULL);
}

static void br_on_tick(int signal, siginfo_t *info, void *context)
{
   if (!pthread_equal(pthread_self(), br_ticking.thread)) {
      pthread_kill(br_ticking.thread, signal);
      return;
   }
   if (br_ticking.L) {
      /* LuaJIT's handler sets this bit too, but not in a finalizer. */
      if (br_in_finalizer(br_ticking.L)) *br_mask_in(br_ticking.L) |= BR_HOOK_PROFILE;
      br_allow_hooks(br_ticking.L);
      br_hook_now(br_ticking.L);  /* lua_sethook may be called from a signal handler */
   }
   if (br_ticking.profiler.sa_flags & SA_SIGINFO) br_ticking.profiler.sa_sigaction(signal, info, context);
   else br_ticking.profiler.sa_handler(signal);
}

static void br_no_sample(void *data, lua_State *L, int samples, int vmstate)
{
   (void)data;
   (void)L;
   (void)samples;
   (void)vmstate;
}

/* Called in the main thread. */
static void br_start_ticking(lua_State *L)
{
   struct sigaction action;
   char mode[16];
   snprintf(mode, sizeof mode, "li%d", BR_TICK);
   br_ticking.thread = pthread_self();
   /* A tick may still arrive after the profiler has stopped and restored the former handler. That must not be the
      default one, which ends the process. */
   sigaction(SIGPROF, NULL, &action);
   if (!(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL) signal(SIGPROF, SIG_IGN);
   lua.luaJIT_profile_start(L, mode, br_no_sample, NULL);
   sigaction(SIGPROF, NULL, &br_ticking.profiler);
   if (br_ticking.profiler.sa_handler == SIG_DFL || br_ticking.profiler.sa_handler == SIG_IGN) return;
   br_ticking.L = L;
   action = br_ticking.profiler;
   action.sa_flags |= SA_SIGINFO | SA_RESTART;
   action.sa_sigaction = br_on_tick;
   sigaction(SIGPROF, &action, NULL);
}

static void br_stop_ticking(lua_State *L)
{
   br_ticking.L = NULL;
   lua.luaJIT_profile_stop(L);
}

/* ---- the end of a state */

static int br_all_finalized(lua_State *L)
{
   (void)L;
   br_closing = NULL;
   return 0;
}

/* Make the object that is finalized last, because it is made before all others: after it, ticks must not touch the
   state. */
static void br_push_last_finalized(lua_State *L)
{
   lua.lua_newuserdata(L, 1);
   lua.lua_createtable(L, 0, 1);
   lua.lua_pushcclosure(L, br_all_finalized, 0);
   lua.lua_setfield(L, -2, "__gc");
   lua.lua_setmetatable(L, -2);
   lua.luaL_ref(L, LUA_REGISTRYINDEX);
}

static void br_on_closing_tick(int signal)
{
   lua_State *L = br_closing;
   if (!pthread_equal(pthread_self(), br_ticking.thread)) {
      pthread_kill(br_ticking.thread, signal);
      return;
   }
   if (!L) return;
   br_allow_hooks(L);
   br_hook_now(L);
}

/* Close a state. With `ticks`, Ctrl-C stops its finalizers. Called without the GIL; with `ticks` only in the main
 * thread, and after br_stop_ticking. */
static void br_close(lua_State *L, int ticks)
{
   struct sigaction action, before;
   struct itimerval every = {{0, 0}, {0, 0}};
   if (!ticks || !br_hook_mask_place) {
      lua.lua_close(L);
      return;
   }
   memset(&action, 0, sizeof action);
   action.sa_handler = br_on_closing_tick;
   action.sa_flags = SA_RESTART;
   br_ticking.thread = pthread_self();
   br_closing = L;
   sigaction(SIGPROF, &action, &before);
   br_tick_every(BR_TICK);
   lua.lua_close(L);
   br_closing = NULL;
   setitimer(ITIMER_PROF, &every, NULL);
   /* A tick may still arrive, and the default action would end the process. */
   if (!(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL) before.sa_handler = SIG_IGN;
   sigaction(SIGPROF, &before, NULL);
}

#endif

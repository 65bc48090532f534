/* Stopping Lua code that runs: a tick of LuaJIT's profiler (which compiled code checks for) installs a hook, and the
 * hook lets Python handle its signals. An exception that comes of it, or that a callback must not lose (SystemExit,
 * KeyboardInterrupt), is raised again at every instruction until Python has it back, so that no pcall can swallow it. */
#ifndef BRIDGE_INTERRUPT_H
#define BRIDGE_INTERRUPT_H

#include <pthread.h>
#include <signal.h>
#include "trampoline.h"

#define BR_STATE "bridge.state"
#define BR_EVERY (LUA_MASKCOUNT | LUA_MASKLINE) /* not calls: the message handler itself is one */

/* Leaves the exception to raise on L's stack and answers 1, or answers 0. Called with the GIL held. */
static int (*br_exception_to_raise)(lua_State *L, void *state);

/* The program's own debug hook, put back after ours. One state per process has ticks. */
static struct { lua_Hook hook; int mask, count; } br_kept_hook;

static void br_hook(lua_State *L, lua_Debug *ar)
{
   (void)ar;
   lua.lua_sethook(L, br_kept_hook.hook, br_kept_hook.mask, br_kept_hook.count);
   lua.lua_getfield(L, LUA_REGISTRYINDEX, BR_STATE);
   void *state = lua.lua_touserdata(L, -1);
   lua_pop(L, 1);
   PyGILState_STATE gil = PyGILState_Ensure();
   int raise = br_exception_to_raise(L, state);
   PyGILState_Release(gil);
   if (raise) {
      lua.lua_sethook(L, br_hook, BR_EVERY, 1);
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
   if (lua.lua_gethook(L) == br_hook)
      lua.lua_sethook(L, br_kept_hook.hook, br_kept_hook.mask, br_kept_hook.count);
}

/* ---- ticks: SIGPROF, of which LuaJIT's own handler makes compiled code leave for the interpreter */

static struct {
   lua_State *L;
   pthread_t thread;          /* the main thread, the only one that handles Python's signals */
   struct sigaction profiler; /* LuaJIT's handler */
} br_ticking;

static void br_on_tick(int signal, siginfo_t *info, void *context)
{
   if (!pthread_equal(pthread_self(), br_ticking.thread)) {
      pthread_kill(br_ticking.thread, signal);
      return;
   }
   if (br_ticking.L) br_hook_now(br_ticking.L);  /* lua_sethook may be called from a signal handler */
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

/* Called in the main thread. `mode` as luaJIT_profile_start takes it. */
static void br_start_ticking(lua_State *L, const char *mode)
{
   struct sigaction action;
   br_ticking.thread = pthread_self();
   /* A tick may still be on its way when the profiler stops and gives the signal back to what it had before: that must
      not be the default, which ends the process. */
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

#endif

/* libz3, loaded when a formula needs it. Most do not, and it costs ten milliseconds: three to load, seven for a context. */
#pragma once
#include <stdbool.h>
#include <z3.h>

#define Z3_FUNCTIONS(F) \
        F(ast_vector_dec_ref) F(ast_vector_get) F(ast_vector_inc_ref) F(ast_vector_size) F(del_config) F(del_context)  \
        F(get_ast_id) F(get_bool_value) F(get_numeral_int64) F(mk_add) F(mk_and) F(mk_bool_sort) F(mk_config)          \
        F(mk_context) F(mk_div) F(mk_eq) F(mk_false) F(mk_fresh_const) F(mk_ge) F(mk_iff) F(mk_implies) F(mk_int64)    \
        F(mk_int_sort) F(mk_ite) F(mk_le) F(mk_mod) F(mk_mul) F(mk_not) F(mk_or) F(mk_params) F(mk_simple_solver)      \
        F(mk_string_symbol) F(mk_true) F(model_dec_ref) F(model_eval) F(model_inc_ref) F(params_dec_ref)               \
        F(params_inc_ref) F(params_set_uint) F(set_error_handler) F(set_param_value) F(solver_assert)                  \
        F(solver_check_assumptions) F(solver_dec_ref) F(solver_get_model) F(solver_get_unsat_core) F(solver_inc_ref)   \
        F(solver_propagate_consequence) F(solver_propagate_final) F(solver_propagate_fixed) F(solver_propagate_init)   \
        F(solver_propagate_register) F(solver_set_params)

struct z3 {
#define F(name) __typeof__(Z3_##name) *name;
        Z3_FUNCTIONS(F)
#undef F
};

/* Z3's functions, without their prefix; set by z3_load(). */
extern struct z3 z3;

/* False: there is no libz3, which standard error says. Not thread-safe. */
bool z3_load(void);
